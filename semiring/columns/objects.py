"""Elements of a semiring as bytes, for workers without these packages.

Classes are sent to them by value, in the passes of an evaluation; elements refer to them by name.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.semirings import Clearance, Weight
from semiring.semirings.formula import Name
from semiring.tensor import Tensor
from semiring.token import Token

_CLASSES: Mapping[str, type] = {
    kind.__qualname__: kind
    for kind in (
        Token,
        Name,
        Polynomial,
        Clearance,
        Weight,
        Tensor,
        Expression,
        *Expression.__subclasses__(),
    )
}
"""Classes of annotations, by the names that stand for them."""


def pickled(value: Any) -> bytes:
    """Return an element as bytes."""
    written = io.BytesIO()
    _Pickler(written).dump(value)
    return written.getvalue()


def unpickled(written: bytes) -> Any:
    """Return the element that bytes encode."""
    return _Unpickler(io.BytesIO(written)).load()


class _Pickler(pickle.Pickler):
    """Pickles our classes by name, since workers hold them by value and cannot import their
    modules.
    """

    def persistent_id(self, item: Any) -> str | None:
        """Return the name of one of our classes."""
        if isinstance(item, type) and _CLASSES.get(item.__qualname__) is item:
            return item.__qualname__
        return None


class _Unpickler(pickle.Unpickler):
    def persistent_load(self, name: Any) -> type:
        """Return the class with a name."""
        return _CLASSES[name]
