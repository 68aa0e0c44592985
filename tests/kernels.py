"""Kernels for the chapters, forked from a process that has the libraries imported.

To import PyTorch and Matplotlib takes a kernel seconds of a processor, before it does anything, and
`make test` starts one for every chapter. Here Jupyter starts this file instead, which asks a server
for a fork, hands it what it has been given, and stands for it: to signals, and by its end. The
kernel has a name of its own, so that other notebooks are run as they are elsewhere.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path

# Not pyplot, which looks for the kernel that it is in.
LIBRARIES = (
    "ipykernel.kernelapp",
    "matplotlib.backends.backend_agg",
    "matplotlib.figure",
    "torch._dynamo",  # which the first optimizer of a process imports
)
FORWARDED = (signal.SIGINT, signal.SIGTERM)
NAME = "forked"


@contextmanager
def forked_kernels() -> Iterator[None]:
    """Let whoever asks Jupyter for a kernel of this `NAME` in here get one that is forked."""
    before = os.environ.get("JUPYTER_PATH", "")
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder, "door")) as address:
        argv = [sys.executable, "-I", "-S", __file__, "ask", address, "{connection_file}"]
        spec = {"argv": argv, "display_name": "Python 3, forked", "language": "python"}
        place = Path(folder, "kernels", NAME)
        place.mkdir(parents=True)
        (place / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, (folder, before)))
        try:
            yield
        finally:
            os.environ["JUPYTER_PATH"] = before


def kernel_name() -> str:
    """Return the name of such kernels where some are served, or that of Python's own."""
    folders = filter(None, os.environ.get("JUPYTER_PATH", "").split(os.pathsep))
    return NAME if any(Path(one, "kernels", NAME).is_dir() for one in folders) else "python3"


@contextmanager
def _server(address: Path) -> Iterator[str]:
    """Start it; who asks before it answers is kept waiting."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(address))
        door.listen(32)
        number = door.fileno()
        command = [sys.executable, "-P", __file__, "serve", str(number)]
        server = subprocess.Popen(command, pass_fds=[number])
    try:
        yield str(address)
    finally:
        server.terminate()
        server.wait()


def ask(address: str, file: str, *settings: str) -> None:
    """Ask for a kernel, with what Jupyter's client adds to its command, and wait for its end."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        order = {
            "arguments": ["-f", file, *settings],
            "folder": os.getcwd(),
            "variables": dict(os.environ),
        }
        socket.send_fds(server, [b"kernel"], [0, 1, 2])
        server.sendall(json.dumps(order).encode() + b"\n")
        kernel = int(server.makefile().readline())
        for number in FORWARDED:
            signal.signal(number, lambda number, _: os.kill(kernel, number))
        server.recv(1)  # nothing, at the end


def serve(door: socket.socket) -> None:
    """Import the libraries, and fork whenever somebody asks."""
    # Which of Matplotlib's backends it is, a kernel says before anything is imported.
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    for name in LIBRARIES:
        import_module(name)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    while True:
        connection, _ = door.accept()
        if not os.fork():
            door.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            with suppress(SystemExit):
                _become_kernel(connection)
            os._exit(0)
        connection.close()


def _reap(*_: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _become_kernel(connection: socket.socket) -> None:
    """Take the place of the process that asks, and run as its kernel."""
    import threading

    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    for number, stream in enumerate(socket.recv_fds(connection, len(b"kernel"), 3)[1]):
        os.dup2(stream, number)
        os.close(stream)
    order = json.loads(connection.makefile().readline())
    connection.sendall(f"{os.getpid()}\n".encode())
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["variables"])
    threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
    sys.path.insert(0, "")  # the kernel's folder, as elsewhere; the server began without its own
    sys.argv = ["ipykernel_launcher", *order["arguments"]]
    IPKernelApp.launch_instance()


def _end_with(connection: socket.socket) -> None:
    """End as soon as the process that asked has ended."""
    connection.recv(1)
    os._exit(1)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    ask(*given) if what == "ask" else serve(socket.socket(fileno=int(given[0])))
