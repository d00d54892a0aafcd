"""The explorer, opened for frames and captures: the one place where the core names it."""

from __future__ import annotations

import os
from typing import Any

from lipstick.outer import outer

_EXPLORER = "lipstick.explorer.opening"


def explore(subject: Any, to: str | os.PathLike[str] | None, *, browser: bool) -> Any:
    """Explore a query or a capture; see :func:`lipstick.explore`."""
    return outer(f"{_EXPLORER}:explore")(subject, to=to, browser=browser)


def notebook_widget(subject: Any) -> Any:
    """Return the widget of a subject in a notebook; None where it is not interactive."""
    return outer(f"{_EXPLORER}:notebook_widget")(subject)


def notebook_bundle(subject: Any) -> dict[str, Any] | None:
    """Return the MIME bundle of a subject in a notebook; None where it is not interactive."""
    bundle: dict[str, Any] | None = outer(f"{_EXPLORER}:bundle")(subject)
    return bundle
