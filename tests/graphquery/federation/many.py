"""Holds many random federations against their merged graphs.

python -m tests.graphquery.federation.many 0-200 --stores 64 --questions 10 --output FILE

With a file, a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from tests.graphquery.federation.oracle import check_federation, check_zoomed
from tests.graphquery.federation.stores import random_stores


def main() -> None:
    """Check the federations of some seeds; stop at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seeds", help="from-to, the last one left out")
    parser.add_argument("--stores", type=int, default=None, help="how many; by default 2 to 8")
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--output", type=Path, help="a file of what was held, a line a federation")
    given = parser.parse_args()
    first, last = (int(part) for part in given.seeds.split("-"))
    done: dict[tuple[int, int | None, int], int] = {}
    if given.output is not None and given.output.exists():
        for line in given.output.read_text().splitlines():
            held = json.loads(line)
            done[held["seed"], held["stores"], held["questions"]] = held["telling"]
    telling = 0
    for seed in range(first, last):
        if (seed, given.stores, given.questions) in done:
            telling += done[seed, given.stores, given.questions]
            continue
        folder = Path(tempfile.mkdtemp())
        try:
            paths = random_stores(folder, seed, given.stores)
            answers_told = check_federation(paths, seed, given.questions)
            check_zoomed(paths, seed, given.questions)
        finally:
            shutil.rmtree(folder)
        telling += answers_told
        if given.output is not None:
            held = {"seed": seed, "stores": given.stores, "questions": given.questions}
            with given.output.open("a") as file:
                file.write(json.dumps(held | {"telling": answers_told}) + "\n")
        print(f"{seed}: as the merged graph; {telling} telling answers so far", flush=True)


if __name__ == "__main__":
    main()
