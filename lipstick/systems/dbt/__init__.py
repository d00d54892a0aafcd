"""Provenance for projects of dbt Core, after they were built.

Nothing is added to a project. Its manifest and compiled SQL are read, and every model becomes one
query over seeds and sources.
"""

from __future__ import annotations

import os
import shutil
from importlib.resources import as_file, files
from pathlib import Path

from lipstick.systems.dbt.bases import BaseTable
from lipstick.systems.dbt.project import DbtProject
from lipstick.systems.dbt.questions import StateDifference, TrackedProject
from semiring.errors import LipstickError

__all__ = [
    "BaseTable",
    "DbtProject",
    "StateDifference",
    "TrackedProject",
    "write_example",
]


def write_example(folder: str | os.PathLike[str]) -> Path:
    """Write a small compiled project, of a shop, to a new folder, and return the folder.

    Raises
    ------
    LipstickError
        The folder is there already.
    """
    path = Path(folder)
    if path.exists():
        raise LipstickError(f"{path} is there already: name a new folder.")
    with as_file(files(__name__) / "shop") as shop:
        shutil.copytree(shop, path)
    return path
