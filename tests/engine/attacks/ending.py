"""The network and the processes of others, the end of one's own, and time."""

from tests.engine.attacks import WRONG, Attack, wrong

NETWORK = {
    "addresses of the network": wrong(
        "import socket\n"
        "for address in (('127.0.0.1', 22), ('127.0.0.1', 8888), ('1.1.1.1', 53), ('::1', 80)):\n"
        "    family = socket.AF_INET6 if ':' in address[0] else socket.AF_INET\n"
        "    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):\n"
        "        try:\n"
        "            one = socket.socket(family, kind)\n"
        "            one.settimeout(0.2)\n"
        "            if kind == socket.SOCK_STREAM: one.connect(address)\n"
        "            else: print(one.sendto(b'x' * 20, address)); print(one.recv(9))\n"
        "            print('GOT', address, kind)\n"
        "        except OSError as error: print(error)\n"
        "try: print('GOT', socket.getaddrinfo('example.org', 80))\n"
        "except OSError as error: print(error)",
        "tried to use the network",
    ),
    "sockets of the machine": wrong(
        "import glob, socket\n"
        "names = [line.split()[-1] for line in open('/proc/net/unix') if {*'/@'} & {*line}]\n"
        "for name in {*names, '/run/docker.sock', '/var/run/dbus/system_bus_socket'}:\n"
        "    try:\n"
        "        one = socket.socket(socket.AF_UNIX)\n"
        "        one.connect('\\0' + name[1:] if name[0] == '@' else name)\n"
        "        print('GOT', name)\n"
        "    except OSError: pass",
        "cheated\\?.*tried to use /run/docker.sock",
    ),
    "its own descriptors": wrong(
        "import os, socket, stat\n"
        "for number in os.listdir('/proc/self/fd'):\n"
        "    try:\n"
        "        if stat.S_ISSOCK(os.fstat(int(number)).st_mode):\n"
        "            one = socket.socket(fileno=os.dup(int(number)))\n"
        "            one.setblocking(False)\n"
        "            socket.send_fds(one, [b'f'], [os.open('/dev/null', os.O_RDONLY)])\n"
        "            one.send(b'e' * 40)\n"
        "    except OSError: pass",
        "crashed.*sent no valid answer",
    ),
}

ENDING = {
    "exit": Attack("import os\nos._exit(0)\n", "crashed.*its cell ended its own process"),
    "exit when called": Attack(
        "import os\ndef softmax(scores): os._exit(0)", "crashed.*it ended its own process"
    ),
    "SystemExit": Attack(f"{WRONG}\nraise SystemExit", "a cell stopped itself with SystemExit"),
    "SystemExit when called": Attack("def softmax(scores): raise SystemExit", "raised SystemExit"),
    "KeyboardInterrupt": Attack(
        "def softmax(scores): raise KeyboardInterrupt", "crashed.*ended its own process|Keyboard"
    ),
    "abort": Attack("import os\nos.abort()", "crashed.*its cell ended its own process"),
    "a segmentation fault": Attack(
        "import ctypes\ndef softmax(scores): ctypes.string_at(0)",
        "crashed.*it ended its own process",
    ),
    "recursion": Attack("def softmax(scores): return softmax(scores)", "raised RecursionError"),
    "all descriptors closed": wrong(
        "import os\nos.closerange(0, 256)", "crashed.*its cell ended its own process"
    ),
    "the parent killed": wrong(
        "import os, signal\n"
        "for which in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):\n"
        "    os.kill(os.getppid(), which)\n"
        "    os.kill(1, which)",
        "cheated\\?.*tried to send a signal to a process",
    ),
    "the parent interrupted": wrong(
        "import os, signal, time\nos.kill(1, signal.SIGINT)\ntime.sleep(0.5)", "crashed|cheated\\?"
    ),
    "all processes killed": wrong(
        "import os, signal\nos.kill(-1, signal.SIGKILL)",
        "cheated\\?.*tried to send a signal",
    ),
    "its group killed": Attack(
        "import os, signal\nos.killpg(0, signal.SIGKILL)",
        "crashed.*its cell ended its own process",
    ),
    "when it is told its points": wrong(
        "import os\n"
        "from hintgrader.worker.check import PublishedPoints, published\n"
        "class Ending(PublishedPoints):\n"
        "    def __setitem__(self, *_): os._exit(0)\n"
        "published.__class__ = Ending",
        "crashed.*its cell ended its own process",
    ),
}

TAKING_TIME = {
    "a cell that stops itself": wrong(
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "not graded.*its cell waited",
    ),
    "a call that stops itself": Attack(
        "import os, signal\ndef softmax(scores): os.kill(os.getpid(), signal.SIGSTOP)",
        "not graded.*it waited",
    ),
    "a cell for ever": Attack(
        "import time\nwhile True: time.sleep(9)", "not graded.*its cell waited"
    ),
    "a call for ever": Attack(
        "import time\ndef softmax(scores): time.sleep(99)", "not graded.*it waited"
    ),
    "a call past its alarm": Attack(
        "import signal\n"
        "def softmax(scores):\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "    signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "    while True: pass",
        "timed out.*it did not come back within",
    ),
    "a call that catches its alarm": Attack(
        "def softmax(scores):\n"
        "    while True:\n"
        "        try:\n"
        "            while True: pass\n"
        "        except BaseException: pass",
        "timed out.*it did not (come back|return) within",
    ),
}
