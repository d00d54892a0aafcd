"""Names that are not taken."""

from __future__ import annotations


def apart(name: str, taken: set[str], suffix: str = "") -> str:
    """Return a name that is not taken: this one, else with the suffix, else with a number."""
    if suffix and name in taken:
        name = f"{name}__{suffix}"
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name}_{number}", number + 1
    return candidate
