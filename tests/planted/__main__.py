"""``python -m tests.planted 0-50``: how many planted errors explanations find."""

from __future__ import annotations

import sys

from tests.planted.scoreboard import run


def main(seeds: str, size: int) -> None:
    """Print a line per case, and the shares."""
    first, last = map(int, seeds.split("-"))
    found = every = base = 0
    for seed in range(first, last):
        outcome = run(seed, size)
        found += outcome.found > 0
        every += outcome.found >= min(3, len(outcome.case.planted))
        base += outcome.baseline
        mark = "found" if outcome.found else "MISSED"
        print(
            f"{outcome.case.name:32} {mark:6} {outcome.found}/{len(outcome.case.planted)} "
            f"baseline {'found' if outcome.baseline else 'missed':6} {outcome.seconds:6.2f} s"
        )
        if not outcome.found:
            print("   planted:", "; ".join(text for text, _ in outcome.case.planted))
            print("   said:   ", "; ".join(cause.text for cause in outcome.explanation.causes))
    total = last - first
    print(f"{found} of {total} found among the first three; all (or three) in {every}")
    print(f"{base} of {total} found by grouping by every column")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12_000)
