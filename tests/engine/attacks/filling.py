"""Using up a machine, and leaving something for the next submission."""

from tests.engine.attacks import Attack, wrong

FILLING = {
    "memory": Attack(
        "x = []\nwhile True: x.append(torch.ones(2**27))", "crashed.*its cell used .* GB of memory"
    ),
    "memory that nobody owns": wrong(
        "import ctypes, mmap, os\n"
        "libc = ctypes.CDLL(None)\n"
        "if (found := libc.shmget(0, 2**20, 0o1666)) != -1: print('GOT', found)\n"
        "if (found := libc.semget(0, 1, 0o1666)) != -1: print('GOT', found)\n"
        "if (found := libc.mq_open(b'/left', 0o102, 0o666, None)) != -1: print('GOT', found)\n"
        "for make in (lambda: os.memfd_create('x'), lambda: mmap.mmap(-1, 2**20)):\n"
        "    try: print('GOT', make())\n"
        "    except OSError: pass",
        "cheated\\?.*tried to call shmget",
    ),
    "the disk": wrong(
        "import os\n"
        "for folder in ('/scratch', '/dev/shm'):\n"
        "    try:\n"
        "        for number in range(40):\n"
        "            with open(f'{folder}/{number}', 'wb') as file:\n"
        "                file.write(bytes(2**24))\n"
        "        print('GOT', folder)\n"
        "    except OSError as error: print(error)",
        "files left behind, which are gone now: \\d\\d",
    ),
    "what is printed": wrong(
        "import os, sys\n"
        "for _ in range(200): print('x' * 10**6)\n"
        "for number in (1, 2): os.write(number, b'x' * 10**7)\n"
        "display(*['y' * 10**6] * 100)\n"
        "class Long:\n"
        "    def _repr_png_(self): return b'\\x89PNG' + bytes(10**7)\n"
        "display(*[Long()] * 3)",
        "showed more than is kept",
    ),
    "descriptors": wrong(
        "import os\nkept = [os.pipe() for _ in range(100)]", "keeps many files or sockets open"
    ),
    "processes": wrong(
        "import os, time\n"
        "for _ in range(300):\n"
        "    if not os.fork():\n"
        "        time.sleep(60); os._exit(0)",
        "crashed.*(left .* processes running|started more than)",
    ),
    "processes and processes": wrong(
        "import os, time\n"
        "end = time.time() + 3\n"
        "while time.time() < end:\n"
        "    try: os.fork()\n"
        "    except OSError: time.sleep(0.01)",
        "crashed|timed out|not graded",
    ),
    "a huge tensor": Attack(
        "def softmax(scores): return torch.zeros(1).expand(10**13)", "raised TooLarge"
    ),
    "many tensors": Attack(
        "def softmax(scores): return [torch.zeros(1)] * 20_000", "raised TooLarge"
    ),
    "deep lists": Attack(
        "def softmax(scores):\n    for _ in range(500): scores = [scores]\n    return scores",
        "raised (TooLarge|RecursionError)",
    ),
    "a list that holds itself": Attack(
        "def softmax(scores):\n    found = []\n    found.append(found)\n    return found",
        "raised TooLarge",
    ),
    "a huge number": Attack("def softmax(scores): return 10**10_000", "expected a tensor"),
}

LEAVING = {
    "processes that detach": wrong(
        "import os, signal, time\n"
        "for _ in range(3):\n"
        "    if not os.fork():\n"
        "        os.setsid()\n"
        "        if os.fork(): os._exit(0)\n"
        "        for number in range(1, 32):\n"
        "            if number not in (9, 19): signal.signal(number, signal.SIG_IGN)\n"
        "        while True:\n"
        "            try: open('/scratch/left', 'w').write('x')\n"
        "            except OSError: pass\n"
        "            time.sleep(0.01)",
        "processes left behind, which are gone now: 3",
    ),
    "limits of the parent": wrong(
        "import os, resource\n"
        "for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE):\n"
        "    for pid in {1, os.getppid()}:\n"
        "        try: print('GOT', resource.prlimit(pid, kind, (3, 3)))\n"
        "        except OSError: pass\n"
        "for call in (lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),\n"
        "             lambda: os.sched_setaffinity(1, {0}),\n"
        "             lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))):\n"
        "    try: print('GOT', call())\n"
        "    except OSError: pass",
        "cheated\\?.*tried to limit another process",
    ),
    "limits of its own": wrong(
        "import resource\n"
        "for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_NPROC):\n"
        "    try: print('GOT', resource.setrlimit(kind, (-1, -1)))\n"
        "    except (OSError, ValueError): pass",
        "changed its own limits",
    ),
    "a fork that lies": wrong(
        "import os\nos.fork = lambda: 0", "cheated\\?.*tried to exchange os.fork"
    ),
    "a fork that swaps": wrong(
        "import os\nfork = os.fork\nos.fork = lambda: 0 if fork() else 1\n",
        "cheated\\?.*tried to exchange os.fork",
    ),
}
