"""The scripts and notebooks in the manner of public ones, and the files that they read."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lipstick.systems.scripts import ScriptProvenance, script_provenance

_FOLDER = Path(__file__).parent / "public"

_RUNNABLE = ("arrays", "jobs", "notebooks", "standard_library", "tables")
"""Files of scripts that need what is installed, and no network, cluster or screen."""


@dataclass(frozen=True, slots=True)
class PublicScript:
    """A script, or a notebook whose cells ``# %%`` begins."""

    family: str
    title: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.family}: {self.title}"

    @property
    def is_notebook(self) -> bool:
        return self.text.startswith("# %%")

    @property
    def is_runnable(self) -> bool:
        """Whether it runs where the tests do; magics and Spark do not."""
        needs = re.search(r"^(!|%(?!matplotlib|%))|= [!%]|pyspark|ipywidgets", self.text, re.M)
        return self.family in _RUNNABLE and needs is None

    def provenance(self, folder: Path) -> ScriptProvenance:
        """Write it into a folder and read its provenance."""
        path = folder / f"s.{'ipynb' if self.is_notebook else 'py'}"
        path.write_text(self._notebook() if self.is_notebook else self.text)
        return script_provenance(path)

    def _notebook(self) -> str:
        cells = [
            {"cell_type": "code", "source": source, "outputs": [], "execution_count": None}
            for source in self.text.split("# %%\n")[1:]
        ]
        return json.dumps({"nbformat": 4, "metadata": {}, "cells": cells})


PUBLIC = [
    PublicScript(path.stem, title, text)
    for path in sorted(_FOLDER.glob("*.scripts"))
    for title, text in re.findall(r"^#== (.+)\n((?:(?!#==).*\n)+)", path.read_text(), re.M)
]

INPUTS = frozenset(path.name for path in (_FOLDER / "data").iterdir())


def fresh_folder(folder: Path) -> Path:
    """Empty a folder but for the files that the scripts read."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_FOLDER / "data", folder)
    return folder
