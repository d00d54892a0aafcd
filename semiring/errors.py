"""The root of every error this project raises on purpose, and the errors of this package."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class LipstickError(Exception):
    """Base class: what failed, where, and what to do about it."""

    is_defect: ClassVar[bool] = False
    """True for a defect: the error is shown with the calls that led to it, for a report."""

    def _render_traceback_(self) -> list[str]:
        """Return the text for notebooks: the message, which has the place, without our own
        calls.
        """
        if self.is_defect:
            return traceback.format_exception(self)
        return [f"{type(self).__name__}: {self}"]


def closest(name: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name: the most similar known names, or a few of all names."""
    names = sorted(known)
    lower = {each.lower(): each for each in names}
    likely = [lower[each] for each in get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if likely:
        first, last = ", ".join(likely[:-1]), likely[-1]
        return f"Did you mean {f'{first} or {last}' if first else last}?"
    if not names:
        return "There are none."
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"There are {', '.join(names[:5])}{more}."


class ArgumentError(LipstickError, TypeError, ValueError):
    """An argument of another type or value than the function takes."""


class DepthError(LipstickError, RecursionError):
    """An input that is nested too deeply to be read."""


class CapabilityError(LipstickError):
    """An operation that the semiring does not have (a monus, a tensor, a comparison)."""


class ValuationError(LipstickError):
    """A valuation that does not cover a token, or gives it a value outside the carrier."""


class AnnotationError(LipstickError):
    """A malformed token or annotation, or data of an unsupported type."""


class ExactnessError(LipstickError):
    """An exact value that does not fit the type it was asked to be returned in."""


class BudgetError(ExactnessError):
    """A question whose budget of seconds or memory was spent before its answer was exact."""
