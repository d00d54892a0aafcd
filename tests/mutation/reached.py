"""Which lines of some files each test runs."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

Line = tuple[str, int]
"""A file and the number of a line."""


class Lines:
    """Collects the lines that run, by what they run for: a test, or a fixture of tests.

    Parameters
    ----------
    wanted
        The lines that matter, by file.

    Attributes
    ----------
    seconds
        How long each took.
    """

    def __init__(self, wanted: Mapping[str, set[int]]) -> None:
        self._wanted = wanted
        self._wanted_of: dict[CodeType, frozenset[int]] = {}
        self._left: dict[CodeType, set[int]] = {}
        self._run: dict[str, set[Line]] = defaultdict(set)
        self._reasons: list[str] = []
        self.seconds: dict[str, float] = {}

    def of(self, *reasons: str) -> set[Line]:
        """Return the lines that ran for any of these."""
        return set().union(*(self._run[reason] for reason in reasons))

    @contextmanager
    def collected(self, reason: str) -> Iterator[None]:
        """Collect what runs for a test or a fixture, and for whatever waits for it."""
        self._reasons.append(reason)
        self._left = {}
        sys.settrace(self._called)
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[reason] = time.monotonic() - start
            self._reasons.pop()
            sys.settrace(self._called if self._reasons else None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        code = frame.f_code
        if code not in self._left:
            self._left[code] = set(self._of_code(code))
        return self._reached if self._left[code] else None

    def _of_code(self, code: CodeType) -> frozenset[int]:
        if code not in self._wanted_of:
            wanted = self._wanted.get(code.co_filename, set())
            self._wanted_of[code] = frozenset(wanted.intersection(n for *_, n in code.co_lines()))
        return self._wanted_of[code]

    def _reached(self, frame: FrameType, event: str, value: Any) -> Any:
        left = self._left.setdefault(frame.f_code, set(self._of_code(frame.f_code)))
        if event == "line" and frame.f_lineno in left:
            left.remove(frame.f_lineno)
            for reason in self._reasons:
                self._run[reason].add((frame.f_code.co_filename, frame.f_lineno))
        frame.f_trace_lines = bool(left)
        return self._reached
