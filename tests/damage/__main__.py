"""``python -m tests.damage 0-4000``: damage files at random, and say what became of it.

With ``--output FILE`` the seeds that are done are kept in a file, and a run that was stopped goes
on where it was.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

from tests.damage.held import Held


def main() -> int:
    """Hold the damages of a range of seeds; return 1 if one was answered wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tests.damage", description=__doc__)
    parser.add_argument("seeds", help="a seed, or a range of them: 0-4000")
    parser.add_argument("--output", type=Path, help="a file with a line of JSON per seed done")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    done = _done(given.output)
    failed = sum(error is not None for error in done.values())
    with tempfile.TemporaryDirectory(prefix="damage-") as folder:
        held = Held(Path(folder))
        for seed in range(int(first), int(last or int(first) + 1)):
            if seed in done:
                continue
            error = None
            try:
                held.hold(seed)
            except Exception as raised:  # the next seed is worth asking about
                error = f"{type(raised).__name__}: {raised}"
                failed += 1
                print(error[:2000], flush=True)
            if given.output is not None:
                with given.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"seed": seed, "error": error}) + "\n")
    print(f"{failed} failed; {held.damages.total()} damages in this run, {len(done)} before")
    for counts in (held.damages, held.answers, held.fsck):
        print("  " + _counted(counts))
    return 1 if failed else 0


def _done(path: Path | None) -> dict[int, str | None]:
    if path is None or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {each["seed"]: each["error"] for each in map(json.loads, lines)}


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
