"""Many random graphs against the oracle: ``python -m tests.lipstick.systems.streams.random
0-2000``.

With ``--output FILE`` a line is added for every seed, and a later call goes on after them.
"""

import argparse
import sys
import traceback
from pathlib import Path

from tests.lipstick.systems.streams.compared import compare


def main() -> int:
    """Compare all seeds of a range; return how many differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="first and last, such as 0-2000")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    first, last = map(int, arguments.seeds.split("-"))
    done: dict[int, str] = {}
    if arguments.output is not None and arguments.output.exists():
        for line in arguments.output.read_text().splitlines():
            seed, _, outcome = line.partition(" ")
            done[int(seed)] = outcome
    for seed in range(first, last + 1):
        if seed in done:
            continue
        try:
            done[seed] = f"ok {compare(seed)}"
        except Exception as error:
            done[seed] = f"FAILED {type(error).__name__} {error}".replace("\n", " ")
            traceback.print_exc()
        if arguments.output is not None:
            with arguments.output.open("a") as file:
                file.write(f"{seed} {done[seed]}\n")
    outcomes = [done[seed] for seed in range(first, last + 1)]
    failed = sum(outcome.startswith("FAILED") for outcome in outcomes)
    events = sum(int(each.split()[1]) for each in outcomes if each.startswith("ok"))
    print(f"{len(outcomes)} graphs, {events} events, {failed} that differ")
    return failed


if __name__ == "__main__":
    sys.exit(bool(main()))
