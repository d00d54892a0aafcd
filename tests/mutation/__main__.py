"""``python -m tests.mutation SOURCE... --tests TEST... --output FILE``: which mutants die.

A run that was stopped goes on where it was. ``--compare OTHER`` says which mutants of another
run's file died there and survive in FILE.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation.mutants import mutants
from tests.mutation.plugin import SURVIVED, Mutation

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("sources", nargs="*", type=Path)
    parser.add_argument("--tests", nargs="+", default=[])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=20, help="lines of each source")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--patience", type=float, default=120.0)
    parser.add_argument("--compare", type=Path)
    options = parser.parse_args()
    if options.compare:
        return compare(options.compare, options.output)
    done = outcomes(options.output)
    left = [
        mutant
        for source in options.sources
        for mutant in mutants(source.resolve(), options.lines)
        if (str(mutant.path.relative_to(ROOT)), mutant.line, mutant.change) not in done
    ]
    plugin = Mutation(left, ROOT, options.output, options.seconds, options.patience)
    arguments = ["-q", "-p", "no:cacheprovider", "-m", "not spark"]
    code = int(pytest.main([*arguments, *options.tests], plugins=[plugin]))
    counted = Counter(outcomes(options.output).values())
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counted.items())))
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


def outcomes(path: Path) -> dict[tuple[str, int, str], str]:
    """Return what became of the mutants of a file, by source, line and change."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {(line["path"], line["line"], line["change"]): line["outcome"] for line in lines}


def compare(before: Path, after: Path) -> int:
    """Print how many mutants died, and those that did only before."""
    old, new = outcomes(before), outcomes(after)
    both = old.keys() & new.keys()
    for name, run in (("before", old), ("after", new)):
        killed = sum(run[mutant] != SURVIVED for mutant in both)
        print(f"{name}: {killed} of {len(both)} mutants die")
    lost = [
        mutant for mutant in sorted(both) if old[mutant] != SURVIVED and new[mutant] == SURVIVED
    ]
    for path, line, change in lost:
        print(f"{path}:{line}: {change} survives")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
