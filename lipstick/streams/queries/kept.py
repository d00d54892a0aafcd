"""The offsets of micro-batches, kept for as long as the checkpoint.

Spark removes the offsets of all but the last batches (``spark.sql.streaming.minBatchesToRetain``,
100 unless set). They are copied, one line a batch, to ``_lipstick/offsets.jsonl`` in the checkpoint
while the query runs. A copy that was cut off is copied again, and a batch is known by its number:
each is there once, whatever is killed.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Set
from pathlib import Path

FILE = Path("_lipstick") / "offsets.jsonl"
_PAUSE = 0.5
"""Seconds between two looks at the checkpoint: Spark retains the offsets of many batches."""


def read_kept(checkpoint: Path) -> dict[int, str]:
    """Return the contents of the files of offsets that were kept, by the number of the batch."""
    file = checkpoint / FILE
    if not file.exists():
        return {}
    lines = file.read_bytes().split(b"\n")[:-1]  # the last is empty, or was cut off
    entries = [json.loads(line) for line in lines]
    return {int(entry["batch"]): str(entry["offsets"]) for entry in entries}


def numbered(folder: Path) -> dict[int, Path]:
    """Return the files of a log of Spark's by their numbers."""
    if not folder.is_dir():
        return {}
    return {int(file.name): file for file in folder.iterdir() if file.name.isdigit()}


def keep(checkpoint: Path, known: Set[int]) -> set[int]:
    """Copy the offsets of batches that are not known to be kept; return the numbers of these."""
    new = {n: file for n, file in numbered(checkpoint / "offsets").items() if n not in known}
    if not new:
        return set()
    file = checkpoint / FILE
    file.parent.mkdir(exist_ok=True)
    with file.open("r+b" if file.exists() else "w+b") as out:
        whole = out.read().rfind(b"\n") + 1
        out.seek(whole)
        out.truncate()
        for number in sorted(new):
            entry = {"batch": number, "offsets": new[number].read_text(encoding="utf-8")}
            out.write(json.dumps(entry).encode() + b"\n")
        out.flush()
        os.fsync(out.fileno())
    return set(new)


class Keeper:
    """Keeps the offsets of a query while it runs, in a thread of its own.

    Parameters
    ----------
    checkpoint
        The folder of the query's checkpoint.
    active
        Whether the query still runs.
    """

    def __init__(self, checkpoint: Path, active: Callable[[], bool]) -> None:
        self._checkpoint = checkpoint
        self._active = active
        self._known = set(read_kept(checkpoint))
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lipstick-offsets", daemon=True)
        self._thread.start()

    def catch_up(self) -> None:
        """Keep what there is now."""
        with self._lock:
            self._known |= keep(self._checkpoint, self._known)

    def stop(self) -> None:
        """Keep what there is, and end."""
        self._stopped.set()
        self._thread.join()
        self.catch_up()

    def _run(self) -> None:
        while not self._stopped.wait(_PAUSE) and self._active():
            self.catch_up()
        self.catch_up()
