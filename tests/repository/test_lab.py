"""JupyterLab, as `make lab` opens it: it asks for no news, and saves before much is lost."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.conftest import ROOT

LAB = ROOT / "tools" / "lab"
SCHEMAS = Path(sys.prefix, "share", "jupyter", "lab", "schemas")


def test_settings_are_ones_that_jupyterlab_has() -> None:
    for plugin, settings in json.loads((LAB / "overrides.json").read_text()).items():
        extension, name = plugin.split(":")
        schema = json.loads((SCHEMAS / extension / f"{name}.json").read_text(encoding="utf-8"))
        assert settings.keys() <= schema["properties"].keys(), plugin
        for key, value in settings.items():
            kind = {str: "string", bool: "boolean", int: "number"}[type(value)]
            assert schema["properties"][key]["type"] == kind, key


def test_make_lab_opens_it_with_these_settings() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nlab:")[2].split("\n\n")[0]
    assert f'--LabApp.app_settings_dir="$(CURDIR)/{LAB.relative_to(ROOT)}"' in recipe
