"""Pins are renewed line by line: raised, held with a reason, added, taken out."""

from __future__ import annotations

import sys

from packaging.utils import canonicalize_name

from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from renew_pins import BROUGHT, asked_for, pin_in, renewed

ELSEWHERE = "win32" if sys.platform != "win32" else "linux"
LINES = [
    "# the package",
    "torch==2.0",
    "Plots[svg]==1.0",
    "book==1.0  # 2 is another program",
    "",
    BROUGHT,
    "alpha==1.0",
    f'beta==1.0 ; sys_platform == "{ELSEWHERE}"',
    "gamma==1.0",
]


def found(**versions: str) -> dict[str, dict]:
    return {name: {"name": name, "version": version} for name, version in versions.items()}


def test_resolver_is_asked_for_what_is_newer_and_for_what_is_held() -> None:
    assert list(asked_for(LINES)) == ["torch>=2.0", "Plots[svg]>=1.0", "book==1.0"]


def test_line_is_raised_held_added_or_taken_out() -> None:
    report = found(torch="2.1+cpu", plots="1.2", book="1.0", gamma="1.1", beetle="3", cuda="12")
    report["torch"]["requires_dist"] = ["cuda", "gamma"]
    report["plots"]["requires_dist"] = ["torch", "Beetle>=2"]
    assert renewed(LINES, report) == [
        "# the package",
        "torch==2.1",
        "Plots[svg]==1.2",
        "book==1.0  # 2 is another program",
        "",
        BROUGHT,
        "beetle==3",
        f'beta==1.0 ; sys_platform == "{ELSEWHERE}"',
        "gamma==1.1",
    ]


def test_file_of_the_pins_stays_as_it_is_if_nothing_is_newer() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [pin for pin in map(pin_in, lines) if pin]
    versions = {canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in pins}
    assert renewed(lines, found(**versions)) == lines
