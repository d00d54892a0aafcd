"""TPC-H's eight tables as Parquet: found in a folder, or generated there once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from lipstick.demo.queries import KEYS
from semiring.errors import LipstickError

GENERATOR = "tpcgen-cli"


class DemoError(LipstickError):
    """The demonstration cannot run here; the message says what to do."""


def cache_folder(scale: float) -> Path:
    """Return where the tables of a scale are kept: in the user's cache (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    return root / "lipstick" / "tpch" / f"scale-{scale:g}"


def find_tables(folder: Path) -> dict[str, Path] | None:
    """Return the path of every table, or None when the folder does not exist or is empty.

    Raises
    ------
    DemoError
        When the folder has something in it and lacks a table.
    """
    if not folder.is_dir() or not any(folder.iterdir()):
        return None
    paths = {name: _table(folder, name) for name in KEYS}
    present = {name: path for name, path in paths.items() if path is not None}
    missing = [name for name in KEYS if name not in present]
    if missing:
        raise DemoError(
            f"{folder} lacks {', '.join(f'{name}.parquet' for name in missing)}.\n"
            "Give --data a folder with all eight tables, or one that does not exist yet: they are "
            "generated there."
        )
    return present


def _table(folder: Path, name: str) -> Path | None:
    candidates = (folder / f"{name}.parquet", folder / name)
    return next((path for path in candidates if path.exists()), None)


def generate(folder: Path, scale: float) -> None:
    """Generate the eight tables into a folder that does not exist yet or is empty.

    They are written beside it and moved there when they are complete.

    Raises
    ------
    DemoError
        When the generator is missing or fails.
    """
    command = _generator()
    if command is None:
        raise DemoError(
            f"The TPC-H generator {GENERATOR} is not installed.\n"
            f"Install it (pip install {GENERATOR}), or give the eight tables as Parquet files: "
            "lipstick demo --data DIR."
        )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise DemoError(
            f"The tables cannot be written to {folder}: {error.strerror}.\n"
            "Choose another place: lipstick demo --data DIR."
        ) from error
    try:
        target = ["--scale-factor", f"{scale:g}", "--output-dir", str(unfinished)]
        done = subprocess.run(
            [str(command), "tpch", "parquet", "--quiet", *target],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise DemoError(f"{GENERATOR} could not generate the tables: {reason}")
        _move(unfinished, folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _generator() -> Path | None:
    beside = Path(sysconfig.get_path("scripts")) / GENERATOR
    program = str(beside) if beside.is_file() else shutil.which(GENERATOR)
    return Path(program) if program else None


def _move(unfinished: Path, folder: Path) -> None:
    try:
        unfinished.rename(folder)
    except OSError:
        if find_tables(folder) is None:  # else another run was faster
            raise
