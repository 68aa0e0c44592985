"""Looking for answers, inputs, seeds and secrets, and for a way out of the sandbox."""

from tests.conftest import ROOT
from tests.engine.attacks import Attack, wrong

SOLUTION = ROOT / "solutions" / "01_retrieval" / "01_retrieval.ipynb"

READING = {
    "hidden tests": wrong(
        "try:\n"
        "    import attn_bank.retrieval.softmax as found\n"
        "    print('GOT', found.reference)\n"
        "except ImportError as error:\n"
        "    print(error)",
        "cheated\\?.*tried to import attn_bank",
    ),
    "an exercise by its name": wrong(
        "try:\n"
        "    from hintgrader.bank.bank import Bank\n"
        "    find_exercise = Bank('attn_bank', ()).find\n"
        "    print('GOT', find_exercise('01_retrieval/softmax').reference)\n"
        "except ImportError as error:\n"
        "    print(error)",
        "cheated\\?.*tried to import hintgrader.bank.bank",
    ),
    "files of the course": wrong(
        "import os\n"
        "secret = 'exercises', 'judge.py', 'trial.py', 'solutions', 'gradebook.db', 'submitted'\n"
        "for folder, folders, files in os.walk('/', onerror=lambda _: None):\n"
        "    folders[:] = {*folders} - {'proc', 'lib', 'share', 'bin', 'site-packages', 'dev'}\n"
        "    if 'attn_' in folder or 'grading' in folders + files:\n"
        "        for name in {*folders, *files} & {*secret}:\n"
        "            print('GOT', folder, name)",
        "looked through /course/hintgrader",
    ),
    "solutions by a path": wrong(
        f"for path in ({str(SOLUTION)!r}, '../gradebook.db'):\n"
        "    try:\n"
        "        print('GOT', open(path).read(9))\n"
        "    except OSError as error:\n"
        "        print(error)",
        "cheated\\?.*tried to read .*solutions",
    ),
    "the environment": wrong(
        "import os, glob\n"
        "found = [str(os.environ)]\n"
        "for path in glob.glob('/proc/*/environ'):\n"
        "    try:\n"
        "        found.append(open(path).read())\n"
        "    except OSError:\n"
        "        pass\n"
        "if any('SECRET' in one or 'PYTEST' in one for one in found):\n"
        "    print('GOT', found)",
        "cheated\\?.*tried to read /proc/1/environ",
    ),
    "other processes": wrong(
        "import os\n"
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    name = open(f'/proc/{pid}/cmdline').read()\n"
        "    if 'inside.worker' not in name:\n"
        "        print('GOT', pid, name)\n"
        "    for part in ('mem', 'fd/3', 'environ', 'maps') if int(pid) != os.getpid() else ():\n"
        "        try:\n"
        "            print('GOT', part, open(f'/proc/{pid}/{part}', 'rb').read(9))\n"
        "        except OSError:\n"
        "            pass",
        "cheated\\?.*tried to read /proc/1/mem",
    ),
    "ptrace": wrong(
        "import ctypes\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for request in (16, 0x4206):  # attach, seize\n"
        "    if libc.ptrace(request, 1, None, None) == 0:\n"
        "        print('GOT', request)\n"
        "buffer = ctypes.create_string_buffer(64)\n"
        "pair = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)\n"
        "there = (ctypes.c_void_p * 2)(id(object), 64)\n"
        "if libc.process_vm_readv(1, pair, 1, there, 1, 0) > 0:\n"
        "    print('GOT', buffer.raw)",
        "cheated\\?.*tried to call ptrace",
    ),
    "more rights": wrong(
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000):\n"
        "    if libc.unshare(flag) == 0:\n"
        "        print('GOT a namespace', hex(flag))\n"
        "for kind, place in ((b'proc', b'/scratch'), (b'tmpfs', b'/mnt'), (b'tmpfs', b'/usr')):\n"
        "    if libc.mount(b'none', place, kind, 0, None) == 0:\n"
        "        print('GOT a mount', place)\n"
        "for call in (os.setuid, os.setgid, os.chroot):\n"
        "    try:\n"
        "        print('GOT', call('/scratch' if call is os.chroot else 0))\n"
        "    except OSError:\n"
        "        pass",
        "cheated\\?.*tried to call unshare.*tried to call mount",
    ),
    "places to write": wrong(
        "import os, sys\n"
        "for folder, folders, _ in os.walk('/', onerror=lambda _: None):\n"
        "    folders[:] = {*folders} - {'proc', 'share', 'scratch', 'shm', 'lib'}\n"
        "    if os.access(folder, os.W_OK):\n"
        "        print('GOT', folder)\n"
        "for path in (torch.__file__, sys.executable, '/course/attn_course/__init__.py'):\n"
        "    try:\n"
        "        open(path, 'a')\n"
        "        print('GOT', path)\n"
        "    except OSError:\n"
        "        pass",
        "cheated\\?.*tried to write /course/attn_course/__init__.py",
    ),
    "the interpreter's objects": Attack(
        "import gc\n"
        "def softmax(scores):\n"
        "    for one in gc.get_objects():\n"
        "        if type(one).__name__ in ('Exercise', 'Check', 'Mistake'):\n"
        "            return one.reference(scores)\n"
        "    return torch.zeros_like(scores)\n",
        "cheated\\?.*called gc.get_objects",
    ),
}
