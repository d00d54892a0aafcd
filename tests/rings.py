"""The rings of the code, and the proof that each works without those around it.

The contract of the type ``rings`` in `pyproject.toml` has the folders and modules of each ring; the
longest name that is the beginning of a module decides. `tests.ring_contract` holds the imports.

``python -m tests.rings core`` copies a ring and those within it to a folder, with the tests that
name nothing else, and runs there those of the ring that need no Spark. What follows goes to pytest.
Without a ring, or with ``--turn N`` alone, the ring that is next in turn is proven.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring")
NAMES: Final = ("core", "graphs", "tools", "systems", "benchmark")
"""The rings, from the innermost outwards."""
PROVEN: Final = NAMES[:-1]
"""The rings with others around them."""

_TESTS: Final = ("tests/semiring", "tests/rewriter", "tests/graphquery", "tests/lipstick")
_NAMED: Final = re.compile(rf"\b(?:{'|'.join(PACKAGES)}|tests)(?:[./][A-Za-z_]\w*)*")
_IMPORTED: Final = re.compile(r"^\s*from ([\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)
_SITE: Final = '''"""Packages are found in this folder alone, not where they were installed from."""
import sys

sys.meta_path[:] = [each for each in sys.meta_path if "__editable__" not in repr(each)]
sys.path[:] = [each for each in sys.path if "__editable__" not in each]
'''


@cache
def rings() -> Mapping[str, tuple[str, ...]]:
    """Return the places of each ring, as names of modules, from the innermost ring outwards."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = document["tool"]["importlinter"]["contracts"]
    (contract,) = (each for each in contracts if each["type"] == "rings")
    return {name: tuple(contract[name]) for name in NAMES}


def ring_of_module(module: str, places: Mapping[str, Iterable[str]]) -> str:
    """Return the ring of a module, or of what is in it."""
    ring_at = {place: ring for ring, modules in places.items() for place in modules}
    parts = module.split(".")
    beginnings = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next(ring_at[beginning] for beginning in beginnings if beginning in ring_at)


def ring_of(path: str) -> str:
    """Return the ring of a file, given by its path from the root of the repository."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return ring_of_module(module, rings())


# -- the tests of a ring -----------------------------------------------------------------------


def names_in(text: str) -> set[str]:
    """Return the modules of the packages and of the tests that a text may use.

    They may be named in imports, in texts and in paths. A public name of ``lipstick`` stands for
    the module that it is from.
    """
    from lipstick import _OF_THE_CORE, _ORIGINS

    named = {each.replace("/", ".") for each in _NAMED.findall(text)}
    for module, imported in _IMPORTED.findall(text):
        if module.split(".")[0] in (*PACKAGES, "tests"):
            named |= {f"{module}.{name}" for name in re.findall(r"\w+", imported)}
    origins = {**_ORIGINS, **_OF_THE_CORE}
    public = {f"lipstick.{name}": origin[0] for name, origin in origins.items()}
    beginnings = ((name, ".".join(name.split(".")[:2])) for name in named)
    return {public.get(beginning, name) for name, beginning in beginnings}


@cache
def _names(path: Path) -> set[str]:
    """Return the modules that a file of the tests may use: a helper, those that it imports first.

    What it imports in a function is needed by some who call it, and not by all who import it.
    """
    text = path.read_text("utf-8")
    if not path.name.startswith("test_"):
        text = "\n".join(re.findall(r"^(?:from|import) (?:[^(\n]*\([^)]*\)|.*)$", text, re.M))
    return names_in(text)


@cache
def _ring_of_text(path: Path) -> str:
    """Return the ring of a file of the tests by what it names itself."""
    modules = [name for name in _names(path) if not name.startswith("tests")]
    return max((ring_of_module(m, rings()) for m in modules), key=NAMES.index, default="core")


@cache
def _helpers(path: Path) -> frozenset[Path]:
    """Return the modules of the tests that a file of the tests uses itself."""
    folders = path.relative_to(ROOT).parents
    used = {ROOT / folder / "conftest.py" for folder in folders}
    for name in _names(path):
        parts = name.split(".")
        if parts[0] == "tests":
            for end in range(2, len(parts) + 1):
                place = ROOT.joinpath(*parts[:end])
                used |= {place.with_suffix(".py"), place / "__init__.py"}
    return frozenset(each for each in used if each.is_file() and each != path)


@cache
def used_by(path: Path) -> frozenset[Path]:
    """Return a file of the tests and the modules of the tests that it uses, through others too."""
    found, waiting = {path}, [path]
    while waiting:
        new = _helpers(waiting.pop()) - found
        found |= new
        waiting += new
    return frozenset(found)


@cache
def ring_of_test(path: Path) -> str:
    """Return the outermost ring that a file of the tests needs, with the modules that it uses.

    That of the folder that it tests counts, too.
    """
    tested = path.relative_to(ROOT / "tests").as_posix()
    folder = (ring_of(tested),) if tested.startswith(PACKAGES) else ()
    return max((*map(_ring_of_text, used_by(path)), *folder), key=NAMES.index)


def tests_of(ring: str) -> list[Path]:
    """Return the files of the tests of a ring, sorted."""
    files = (path for folder in _TESTS for path in (ROOT / folder).rglob("test_*.py"))
    return sorted(path for path in files if ring_of_test(path) == ring)


# -- the proof ---------------------------------------------------------------------------------


def copy(ring: str, folder: Path) -> list[Path]:
    """Copy a ring and those within it to a folder; return the files of its tests there."""
    within = NAMES[: NAMES.index(ring) + 1]
    tests = tests_of(ring)
    used = frozenset[Path]().union(*map(used_by, tests))
    for path in _files(ROOT, *PACKAGES, "tests"):
        place = path.relative_to(ROOT)
        if place.parts[0] != "tests":
            taken = ring_of(place.as_posix()) in within
        elif path.name.startswith("test_"):
            taken = path.suffix != ".py" or path in used
        else:
            taken = path.suffix != ".py" or ring_of_test(path) in within
        if taken:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / place)
    shutil.copy2(ROOT / "pyproject.toml", folder)
    (folder / "sitecustomize.py").write_text(_SITE)
    (ROOT / ".cache").mkdir(exist_ok=True)
    (folder / ".cache").symlink_to((ROOT / ".cache").resolve())
    return [folder / path.relative_to(ROOT) for path in tests]


def _files(root: Path, *folders: str) -> Iterator[Path]:
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def prove(ring: str, options: list[str]) -> int:
    """Run the tests of a ring that need no Spark, without what is around it."""
    with tempfile.TemporaryDirectory(prefix=f"ring-{ring}-") as name:
        folder = Path(name).resolve()
        tests = copy(ring, folder)
        environment = {**os.environ, "PYTHONPATH": name}
        outside = [m for n in NAMES[NAMES.index(ring) + 1 :] for m in rings()[n]]
        check = (
            "import importlib.util as u, lipstick, sys\n"
            "from contextlib import suppress\n"
            "assert lipstick.__file__.startswith(sys.argv[1]), lipstick.__file__\n"
            "for module in sys.argv[2:]:\n"
            "    with suppress(ModuleNotFoundError):\n"
            "        assert u.find_spec(module) is None, module\n"
        )
        command = [sys.executable, "-c", check, str(folder), *outside]
        subprocess.run(command, cwd=folder, env=environment, check=True)
        pytest = [sys.executable, "-m", "pytest", "-q", "-m", "not spark", *options]
        print(f"{ring}: {len(tests)} files of tests, without {', '.join(outside)}", flush=True)
        done = subprocess.run([*pytest, *map(str, tests)], cwd=folder, env=environment, check=False)
    return done.returncode


def main(arguments: list[str]) -> int:
    """Prove the rings that are named first, else the one whose turn it is."""
    named = [each for each in arguments if each in PROVEN]
    options = [each for each in arguments if each not in PROVEN]
    if not named:
        turn = options[options.index("--turn") + 1] if "--turn" in options else "0"
        named = [PROVEN[int(turn) % len(PROVEN)]]
    return max(prove(ring, options) for ring in named)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
