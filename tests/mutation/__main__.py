"""``python -m tests.mutation SOURCE... --tests TEST... --output FILE``: which mutants die.

A run that was stopped goes on where it was. ``--survivors OTHER`` puts the survivors of another
run to these tests, and ``--option=--all`` hands an option to pytest, for tests of a wider choice.
``--compare OTHER`` says which mutants of another run's file died there and survive in FILE.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.mutation.mutants import Mutant, all_mutants, mutants
from tests.mutation.plugin import ALIVE, Mutation

ROOT = Path(__file__).parents[2]
Key = tuple[str, int, str, int]
"""A mutant in a file of outcomes: its source, its line, what becomes of that, its number."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--tests", nargs="+", default=[])
    parser.add_argument("--option", action="append", default=[], help="an option of pytest")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=20, help="lines of each source")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--patience", type=float, default=120.0)
    parser.add_argument("--survivors", type=Path)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    if options.compare:
        return compare(options.compare, options.output)
    if options.survivors:
        chosen = survivors(options.survivors, options.sources)
    else:
        chosen = [m for path in options.sources for m in mutants(path.resolve(), options.lines)]
    done = outcomes(options.output)
    left = [mutant for mutant in chosen if _key(mutant.described(ROOT)) not in done]
    plugin = Mutation(left, ROOT, options.output, options.seconds, options.patience)
    arguments = ["-q", "-pno:cacheprovider", "-mnot spark", "--assert=plain", *options.option]
    code = int(pytest.main([*arguments, *options.tests], plugins=[plugin]))
    summarise(options.output)
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


def outcomes(path: Path) -> dict[Key, str]:
    """Return what became of the mutants of a file, by source, line, change and number."""
    return {_key(line): line["outcome"] for line in _lines(path)}


def survivors(path: Path, sources: list[Path]) -> list[Mutant]:
    """Return the mutants of a file that no test killed, of some sources or of all."""
    within = [source.resolve() for source in sources]
    alive: list[Mutant] = []
    for line in _lines(path):
        source = ROOT / line["path"]
        if line["outcome"] in ALIVE and (not within or source in within):
            alive += [m for m in all_mutants(source) if m.described(ROOT).items() <= line.items()]
    return alive


def summarise(path: Path) -> None:
    """Print how many mutants of each source died, the others by line, and the sum."""
    run = outcomes(path)
    sources = Counter(source for source, *_ in run)
    for source, count in sorted(sources.items()):
        alive = [(key, run[key]) for key in run if key[0] == source and run[key] in ALIVE]
        print(f"{source}: {count - len(alive)} of {count} die")
        for (_, line, change, _), outcome in sorted(alive):
            print(f"  {source}:{line}: {change}: {outcome}")
    counted = Counter(run.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items())))


def compare(before: Path, after: Path) -> int:
    """Print how many mutants died, and those that did only before."""
    old, new = outcomes(before), outcomes(after)
    both = old.keys() & new.keys()
    for name, run in (("before", old), ("after", new)):
        killed = sum(run[mutant] not in ALIVE for mutant in both)
        print(f"{name}: {killed} of {len(both)} mutants die")
    lost = [mutant for mutant in sorted(both) if old[mutant] not in ALIVE and new[mutant] in ALIVE]
    for path, line, change, _ in lost:
        print(f"{path}:{line}: {change} survives")
    return 1 if lost else 0


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _key(line: dict[str, Any]) -> Key:
    return line["path"], line["line"], line["change"], line["number"]


if __name__ == "__main__":
    sys.exit(main())
