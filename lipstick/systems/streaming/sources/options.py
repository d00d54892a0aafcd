"""Options of readers, as Spark reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lipstick.errors import SourceError

_SECONDS = {
    "": 1.0,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}


def option(options: Mapping[str, str], name: str, otherwise: str) -> str:
    """Return the value of an option, given its name in any case."""
    by_lower_name = {key.lower(): value for key, value in options.items()}
    return by_lower_name.get(name.lower(), otherwise)


def seconds_of(duration: str) -> int:
    """Return the whole seconds of a duration such as ``5s`` or ``2min``.

    Raises
    ------
    SourceError
        Spark does not accept the duration.
    """
    matched = re.fullmatch(r"(\d+)\s*([a-z]*)", duration.strip().lower())
    if matched is None or matched[2] not in _SECONDS:
        raise SourceError(f"{duration!r} is not a duration.\nGive one such as '5s'.")
    return int(int(matched[1]) * _SECONDS[matched[2]])
