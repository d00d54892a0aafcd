"""The explorer, opened for frames and captures: the one place where the core names it."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

EXPLORER = "lipstick.explorer.opening"
"""The module that opens the explorer, which imports captures and graphs: it is named, not imported,
so that captures can be read, written and asked without it."""


def explore(subject: Any, to: str | os.PathLike[str] | None, *, browser: bool) -> Any:
    """Explore a query or a capture; see :func:`lipstick.explore`."""
    return import_module(EXPLORER).explore(subject, to=to, browser=browser)


def notebook_widget(subject: Any) -> Any:
    """Return the widget of a subject in a notebook; None where it is not interactive."""
    return import_module(EXPLORER).notebook_widget(subject)


def notebook_bundle(subject: Any) -> dict[str, Any] | None:
    """Return the MIME bundle of a subject in a notebook; None where it is not interactive."""
    bundle: dict[str, Any] | None = import_module(EXPLORER).bundle(subject)
    return bundle
