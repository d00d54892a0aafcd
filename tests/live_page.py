"""The live page at the front of the site: ``python -m tests.live_page`` writes it for a build.

It is the explorer of a capture that comes with lipstick, saved: its own JavaScript computes every
answer, without a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lipstick.demo.example import example
from lipstick.explorer.explorer import Explorer, open_source
from lipstick.explorer.saved import save

CAPTURE: Final = "top-orders"
FILE: Final = Path(__file__).parent.parent / "docs" / "live" / f"{CAPTURE}.html"


def write(path: Path = FILE) -> None:
    """Write the page, and the folder that it is in."""
    path.parent.mkdir(exist_ok=True)
    save(Explorer([open_source(example() / CAPTURE)]), path)


if __name__ == "__main__":
    write()
