"""Holds many random federations against their merged graphs.

python -m tests.graphquery.federation.many 0-200 --stores 64 --questions 10
"""

from __future__ import annotations

import argparse
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
    given = parser.parse_args()
    first, last = (int(part) for part in given.seeds.split("-"))
    telling = 0
    for seed in range(first, last):
        folder = Path(tempfile.mkdtemp())
        try:
            paths = random_stores(folder, seed, given.stores)
            telling += check_federation(paths, seed, given.questions)
            check_zoomed(paths, seed, given.questions)
        finally:
            shutil.rmtree(folder)
        print(f"{seed}: as the merged graph; {telling} telling answers so far", flush=True)


if __name__ == "__main__":
    main()
