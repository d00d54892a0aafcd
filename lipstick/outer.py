"""Objects of outer rings, which the core names by a text and imports when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def resolve(reference: str) -> Any:
    """Import the object that a reference ``module:name`` names."""
    module, _, name = reference.partition(":")
    value: Any = import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def outer(reference: str) -> Any:
    """Import an object of a ring that may be missing, as in an installation of the core alone.

    Raises
    ------
    LipstickError
        Its module is not there.
    """
    try:
        return resolve(reference)
    except ModuleNotFoundError as error:
        from semiring.errors import LipstickError

        module = reference.partition(":")[0]
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise LipstickError(
            f"This installation has no {module}.\nInstall lipstick-spark whole."
        ) from None
