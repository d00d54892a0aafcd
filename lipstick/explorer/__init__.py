"""The explorer: provenance looked at in a browser or a notebook.

Views are pure functions from captures and graphs to answers that are JSON, bounded in size and
time. One page shows them, whoever asks: a server (`server`), a notebook (`widget`) or a file that
holds its answers (`saved`).
"""

from __future__ import annotations

from lipstick.explorer.errors import ExploreError, TooLongError
from lipstick.explorer.explorer import Explorer, ExplorerSource
from lipstick.explorer.opening import Served, explore

__all__ = ["ExploreError", "Explorer", "ExplorerSource", "Served", "TooLongError", "explore"]
