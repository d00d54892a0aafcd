"""``python -m tests.damage.cost CAPTURE``: what checking a capture costs, beside reading it.

Each figure is the least of three, in this process, the files in the cache of the system.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lipstick.capture.capture import Capture, open_capture
from lipstick.capture.contents import describe
from lipstick.capture.manifest import Manifest


def _seconds(function: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def _asked(path: Path, *, checked: bool) -> None:
    """Open a capture, and ask for its answer and lineage."""
    capture = open_capture(path)
    if not checked:
        capture = Capture(path, replace(capture.manifest, files=None))
    _ = capture.df
    capture.lineage()


def main(path: Path) -> None:
    """Print what opening a capture and a first question take, with checks and without."""
    manifest = Manifest.read(path)
    contents = manifest.contents(path)
    files = manifest.files or ()
    size = sum(file.size for file in files) / 1e6
    print(f"{len(files)} files, {size:.1f} MB")
    blocks = sorted({file.name.partition("/")[0] for file in files})
    print(f"describe (once, when it is saved)  {_seconds(lambda: describe(path, blocks)):8.4f} s")
    print(f"read the manifest                  {_seconds(lambda: Manifest.read(path)):8.4f} s")
    print(f"compare names, sizes and rows      {_seconds(contents.check):8.4f} s")
    folders = sorted({file.name.rpartition("/")[0] for file in files})

    def checksums() -> None:
        fresh = manifest.contents(path)
        for folder in folders:
            fresh.read(folder)

    print(f"compare all checksums              {_seconds(checksums):8.4f} s")
    for checked in (False, True):
        seconds = _seconds(lambda checked=checked: _asked(path, checked=checked))
        print(f"answer and lineage, {'checked' if checked else 'not checked':14} {seconds:8.4f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
