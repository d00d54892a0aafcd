"""Frames, captures, sessions and relations as shown in a terminal and in a notebook.

Nothing here raises: a view that cannot be made is one line with the reason.
"""

from __future__ import annotations

from lipstick.display.markup import bytes_text, cell, counted
from lipstick.display.objects import (
    capture_html,
    capture_text,
    frame_html,
    frame_text,
    session_html,
    show_frame,
    tracked_html,
    tracked_text,
)
from lipstick.display.progress_line import progress

__all__ = [
    "bytes_text",
    "capture_html",
    "capture_text",
    "cell",
    "counted",
    "frame_html",
    "frame_text",
    "progress",
    "session_html",
    "show_frame",
    "tracked_html",
    "tracked_text",
]
