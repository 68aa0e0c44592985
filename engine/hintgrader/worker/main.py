"""The confined process: it has torch imported, and forks a child for each submission.

    python -m hintgrader.worker.main CHANNEL

It holds no tests and no references. What a child does to itself stays in the child; what it leaves
behind, processes and files, is removed before the next one.
"""

import contextlib
import gc
import importlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

import psutil

from hintgrader.worker.level import Level
from hintgrader.worker.limits import become, guard_worker
from hintgrader.worker.notebook_process import NotebookProcess
from hintgrader.worker.processors import grant_threads
from hintgrader.worker.scratch import empty
from hintgrader.worker.time_limits import BUSY_GRACE, KILL_GRACE
from hintgrader.worker.wall import ENGINE, Wall
from hintgrader.worker.wire import END, FORK, BrokenMessage, receive, send

KILL_ROUNDS = 40  # tries to end all that a submission has left
# It looks for fonts when it is first imported, by threads and processes which an answer must not
# start, and for seconds.
PRELOADED = ("matplotlib.font_manager",)
# Libraries keep files of their own in these, PyTorch's compiler in one with the user's name.
LIBRARY_FOLDERS = (".cache", ".config", ".ipython", "torchinductor_")


class Worker:
    """Obeys the grader: forks a child, ends it, cleans up.

    Args:
        control: Where orders come from; no child ever holds it.
        level: How submissions are confined.
        wall: What they may import, and what is held back.
    """

    def __init__(self, control: socket.socket, level: Level, wall: Wall) -> None:
        self.control, self.level = control, level
        self.notebook = NotebookProcess(level, wall)
        self.folders = [Path(os.environ["HOME"])]
        if level == Level.SANDBOX:
            self.folders.append(Path("/dev/shm"))

    def serve(self) -> None:
        """Obey until nobody gives orders any more."""
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())  # a submission could fill a file
        for folder in self.folders:
            empty(folder)  # what has been imported leaves files, too
        send(self.control, {"ready": True})
        while True:
            order, descriptors, _, _ = socket.recv_fds(self.control, 1, 1)
            if order == FORK and descriptors:
                self.fork(descriptors[0])
            elif order == END:
                send(self.control, self.clean_up())
            else:
                return

    def fork(self, channel: int) -> None:
        """Start a child that answers on a channel."""
        if os.fork():
            os.close(channel)
            return
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self.control.close()
            self.notebook.answer(socket.socket(fileno=channel))
        finally:
            os._exit(0)

    def clean_up(self) -> dict[str, int]:
        """End what is left of a submission; how many processes and files there were."""
        _wait_for_ends()
        left, alive = len(_descendants()), 0
        for _ in range(KILL_ROUNDS):
            for process in (found := _descendants()):
                with contextlib.suppress(psutil.Error):
                    process.kill()
            alive = len(found)
            if not alive:
                break
            time.sleep(0.01)
        names = [name for folder in self.folders for name in empty(folder)]
        files = sum(not name.startswith(LIBRARY_FOLDERS) for name in names)
        return {"processes": left, "alive": alive, "files": files}


def _wait_for_ends() -> None:
    """Let what is left end by itself; what is about to, and has no processor, gets longer."""
    begun = quiet = time.monotonic()
    while (left := _descendants()) and (now := time.monotonic()) < quiet + KILL_GRACE:
        if now < begun + BUSY_GRACE and any(map(_is_ready, left)):
            quiet = now
        time.sleep(0.002)


def _is_ready(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.Error):
        return process.status() == psutil.STATUS_RUNNING
    return False


def _descendants() -> list[psutil.Process]:
    """The running descendants of this process; zombies are reaped."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:  # orphans become children of this process, so there are none
        return []
    return psutil.Process().children(recursive=True)


def main() -> None:
    """Serve on the channel that the command line names, as the first message there says."""
    control = socket.socket(fileno=int(sys.argv[1]))
    order = receive(control)
    if order["user"]:
        become(order["user"])
    guard_worker()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a submission could send it
    wall = Wall(**order["wall"])
    for name in (*PRELOADED, wall.bank, *order["preload"]):
        with contextlib.suppress(ImportError):  # the cell that imports it will say so
            importlib.import_module(name)
    _remove_editable_finders(wall)
    grant_threads()
    worker = Worker(control, Level(order["level"]), wall)
    gc.collect()
    gc.freeze()
    with contextlib.suppress(BrokenMessage, OSError):
        worker.serve()
    with contextlib.suppress(OSError):
        worker.clean_up()  # a grader that was killed cannot ask for it any more


def _remove_editable_finders(wall: Wall) -> None:
    """Remove import finders of editable installations: the packages are laid out here."""
    ours = {ENGINE, wall.bank, *wall.packages}
    sys.meta_path[:] = [
        finder
        for finder in sys.meta_path
        if not ours & set(getattr(sys.modules.get(finder.__module__), "MAPPING", ()))
    ]


if __name__ == "__main__":
    main()
