"""User-defined semirings, from an object with a few methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import reduce_segments
from semiring.base import Array, Semiring
from semiring.errors import AnnotationError
from semiring.laws import LAWS
from semiring.support.door import checked

K = TypeVar("K")


@runtime_checkable
class SemiringDefinition(Protocol[K]):
    """The operations that define a semiring.

    It may also have ``monus(a, b)``, ``delta(a)``, ``check(value)``, ``default(token)``,
    ``render(value)`` and the flags ``idempotent``, ``absorptive``, ``positive``. With ``dtype``, a
    numpy dtype that holds the elements, and ``plus_array(a, b)`` and ``times_array(a, b)``
    elementwise over such arrays, evaluation is vectorised; without, each operation is called for
    each pair of elements.
    """

    @property
    def zero(self) -> K:
        """The annotation of an absent tuple."""

    @property
    def one(self) -> K:
        """The annotation of a tuple that needs no evidence."""

    def plus(self, a: K, b: K) -> K:
        """Return a + b, for alternative use."""

    def times(self, a: K, b: K) -> K:
        """Return a · b, for joint use."""


@checked
def define(name: str, definition: SemiringDefinition[K], samples: Sequence[K]) -> Semiring[K]:
    """Return a semiring from its definition, its laws checked on samples.

    Parameters
    ----------
    samples
        Some elements; every law is tried on every three of them, 0 and 1.

    Raises
    ------
    LawError
        A law that the samples break: the definition is not a semiring, or claims what it is not.
    AnnotationError
        The definition lacks a required attribute.

    Examples
    --------
    >>> class Bottleneck:
    ...     zero, one = 0.0, float("inf")
    ...     dtype, plus_array, times_array = "float64", np.maximum, np.minimum
    ...     plus, times = max, min
    >>> capacity = define("Capacity", Bottleneck, samples=[1.0, 2.5])
    """
    missing = [part for part in ("zero", "one", "plus", "times") if not hasattr(definition, part)]
    if missing:
        raise AnnotationError(f"The definition of semiring {name} has no {', '.join(missing)}.")
    dtype = np.dtype(getattr(definition, "dtype", object))
    arrays = [hasattr(definition, part) for part in ("plus_array", "times_array")]
    if any(arrays) != (dtype != np.dtype(object)) or any(arrays) != all(arrays):
        raise AnnotationError(
            f"The definition of semiring {name} has some of dtype, plus_array and times_array: "
            "vectorised evaluation needs all three."
        )
    attributes: dict[str, Any] = {
        "name": name,
        "dtype": dtype,
        "arrow_type": pa.string() if dtype == np.dtype(object) else pa.from_numpy_dtype(dtype),
        "has_monus": hasattr(definition, "monus"),
        "no_monus": "its definition has no monus",
        "definition": definition,
    }
    for flag, usual in (("idempotent", False), ("absorptive", False), ("positive", True)):
        attributes[flag] = bool(getattr(definition, flag, usual))
    if attributes["idempotent"] and attributes["positive"]:
        attributes["capabilities"] = frozenset({"MIN", "MAX"})
    base = _Scalar if dtype == np.dtype(object) else _Vectorised
    semiring: Semiring[K] = type(name, (base,), attributes)()
    values = [semiring.zero, semiring.one, *map(semiring.check, samples)]
    for law in LAWS:
        for three in product(values, repeat=3):
            law(semiring, *three)
    return semiring


class _Scalar(Semiring[Any]):
    """A semiring that calls the definition for each pair of elements."""

    definition: Any

    @property
    def zero(self) -> Any:
        return self.definition.zero

    @property
    def one(self) -> Any:
        return self.definition.one

    def plus(self, a: Any, b: Any) -> Any:
        return self.definition.plus(a, b)

    def times(self, a: Any, b: Any) -> Any:
        return self.definition.times(a, b)

    def monus(self, a: Any, b: Any) -> Any:
        return self.definition.monus(a, b) if self.has_monus else super().monus(a, b)

    def delta(self, a: Any) -> Any:
        return self._operation("delta", super().delta)(a)

    def delta_array(self, a: Array) -> Array:
        return self.pack([self.delta(value) for value in self.unpack(a)])

    def check(self, value: Any) -> Any:
        return self._operation("check", lambda element: element)(value)

    def default(self, token: Any) -> Any:
        return self._operation("default", lambda _: self.one)(token)

    @property
    def constant_default(self) -> bool:
        return not hasattr(self.definition, "default")

    def render(self, value: Any) -> str:
        return str(self._operation("render", str)(value))

    def _operation(self, name: str, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
        operation: Callable[[Any], Any] = getattr(self.definition, name, otherwise)
        return operation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Scalar) and self.definition is other.definition

    def __hash__(self) -> int:
        return hash((self.name, id(self.definition)))


class _Vectorised(_Scalar):
    """A semiring that calls the definition on whole arrays."""

    def plus_array(self, a: Array, b: Array) -> Array:
        result: Array = np.asarray(self.definition.plus_array(a, b), dtype=self.dtype)
        return result

    def times_array(self, a: Array, b: Array) -> Array:
        result: Array = np.asarray(self.definition.times_array(a, b), dtype=self.dtype)
        return result

    def sum_segments(self, values: Array, offsets: Array) -> Array:
        """Reduce by the ufunc if + is one, else halve every segment until one element is left."""
        zero = self.pack([self.zero])[0]
        if isinstance(self.definition.plus_array, np.ufunc):
            return reduce_segments(self.definition.plus_array, values, offsets, zero)
        lengths = np.diff(offsets)
        starts, items = offsets[:-1], values
        while len(lengths) and int(lengths.max()) > 1:
            halves = (lengths + 1) // 2
            owners = np.repeat(np.arange(len(lengths)), halves)
            ends = np.cumsum(halves)
            inner = np.arange(len(owners)) - np.repeat(ends - halves, halves)
            left = starts[owners] + 2 * inner
            paired = 2 * inner + 1 < lengths[owners]
            merged = items[left]
            merged[paired] = self.plus_array(merged[paired], items[left[paired] + 1])
            items, starts, lengths = merged, ends - halves, halves
        result = np.full(len(lengths), zero, dtype=self.dtype)
        result[lengths > 0] = items[starts[lengths > 0]]
        return result
