"""The wall: the packages a submission may import, and what is withheld from it."""

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec

WORKER = __package__
ENGINE = WORKER.partition(".")[0]


@dataclass(frozen=True)
class Wall:
    """The names and paths on either side of the wall.

    Args:
        packages: Names of the packages that a submission may import, whole.
        bank: Name of the package of exercises. In the confined process another stands for it, in
            which there is nothing but `check`.
        paths: Parts of paths that only the grader may open, such as the solutions, the gradebook
            and the seed.
    """

    packages: tuple[str, ...] = ()
    bank: str = "bank"
    paths: tuple[str, ...] = ()

    def holds_back(self, module: str) -> bool:
        """True for a module of the grader's, which the confined process lacks."""
        is_engine = module.startswith(f"{ENGINE}.") and not f"{module}.".startswith(f"{WORKER}.")
        return is_engine or module.startswith(f"{self.bank}.")

    def is_secret(self, path: str) -> bool:
        """True for a path that only the grader may open."""
        return bool(self._secret.search(path))

    def is_grader(self, path: str) -> bool:
        """True for a path into the engine or the bank."""
        return bool(self._grader.search(path))

    def is_package(self, path: str) -> bool:
        """True for a path of a package that a submission imports, or of a file that would shadow
        one."""
        return path.startswith(self._folders) or bool(self._shadows.search(path))

    @cached_property
    def _secret(self) -> re.Pattern[str]:
        worker, bank = WORKER.rpartition(".")[2], re.escape(self.bank)
        own = (
            rf"(^|/){ENGINE}/(?!{worker}(/|$)|__init__\.py|__pycache__)[^/]",
            rf"(^|/){bank}/(?!__init__\.py|__pycache__)[^/]",
            r"/proc/\d+/(mem|environ)$",
        )
        return re.compile("|".join((*own, *(rf"(^|/){re.escape(path)}" for path in self.paths))))

    @cached_property
    def _grader(self) -> re.Pattern[str]:
        return re.compile(rf"(^|/)({ENGINE}|{re.escape(self.bank)})(/|$)")

    @cached_property
    def _shadows(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, (*self.packages, self.bank, ENGINE)))
        return re.compile(rf"(^|/)({names})(/__init__)?\.py$")

    @cached_property
    def _folders(self) -> tuple[str, ...]:
        specs = [find_spec(name) for name in (*self.packages, self.bank, WORKER)]
        places = [spec.submodule_search_locations for spec in specs if spec]
        return tuple(f"{found[0]}/" for found in places if found)
