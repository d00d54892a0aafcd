"""``python -m tests.oracle.histories 0-1000 --output FILE``: goes on where it was stopped."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.oracle.histories.check import HeldHistories, check_history


def main() -> None:
    """Hold the histories of seeds, and append what became of each to a file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seeds", help="such as 0-1000")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    lines = given.output.read_text().splitlines() if given.output and given.output.exists() else []
    done = {int(line.split()[0]) for line in lines}
    held, failed = HeldHistories(), 0
    for seed in range(int(first), int(last or first) + 1):
        if seed in done:
            continue
        outcome = "held"
        try:
            check_history(seed, held)
        except Exception as error:
            failed += 1
            outcome = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            print(seed, outcome)
        if given.output:
            with given.output.open("a") as file:
                file.write(f"{seed} {outcome}\n")
    print(dict(held.statements), dict(held.asked), f"failed: {failed}")


if __name__ == "__main__":
    main()
