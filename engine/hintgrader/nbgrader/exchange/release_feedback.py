"""Returns feedback through the exchange, to everybody whose submission came through it.

The settings let no file of a student's lie beside the pages. But nbgrader looks there for two that
say which submission a page belongs to, and stops where one is missing.
"""

import glob
import shutil
from pathlib import Path

from nbgrader.exchange.default import ExchangeReleaseFeedback

NEEDED = ("timestamp.txt", "submission_secret.txt")


class ReleaseFeedback(ExchangeReleaseFeedback):
    """Fetches what nbgrader needs from the submissions; leaves, and lists, those without it."""

    def copy_files(self) -> None:
        """Put the pages where their students find them."""
        directory = self.coursedir
        place, assignment = directory.submitted_directory, directory.assignment_id
        without: set[str] = set()
        for page in map(Path, glob.glob(f"{self.src_path}/*.html")):
            student = page.parent.parent.name
            submitted = Path(directory.format_path(place, student, assignment))
            found = [submitted / name for name in NEEDED]
            if all(path.is_file() and not path.is_symlink() for path in found):
                for path in found:
                    shutil.copyfile(path, page.with_name(path.name))
            else:
                without.add(student)
        if without:
            said = "Not handed in through the exchange, so return these pages otherwise: %s"
            self.log.warning(said, ", ".join(sorted(without)))
        excluded = filter(None, [directory.student_id_exclude, *sorted(without)])
        directory.student_id_exclude = ",".join(excluded)
        super().copy_files()
