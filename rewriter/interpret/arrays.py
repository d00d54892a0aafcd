"""Arrays, maps and structs: construction, order and access."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.interpret.casts import cast
from rewriter.interpret.dates import days_later
from rewriter.interpret.logic import compare
from rewriter.interpret.vector import (
    UninterpretableError,
    Vector,
    boolean,
    common_length,
    either,
    from_arrow,
    unify,
)
from semiring.arrays.ranks import ranked
from semiring.arrays.segments import (
    bounds,
    entries_of,
    list_layout,
    lists_of,
    maps_of,
    mask_of,
    owners_of,
    places_of,
)
from semiring.base import Array


def field(struct: Vector, name: str) -> Vector:
    """A field of each struct, whose name Spark takes in any case; NULL of a NULL struct."""
    kind = struct.type
    if not pa.types.is_struct(kind) or struct.failed is not None:
        raise UninterpretableError(f"a field of {kind}")
    names = [kind.field(number).name.lower() for number in range(kind.num_fields)]
    if names.count(name.lower()) != 1:
        raise UninterpretableError(f"the field {name} of {kind}")
    return from_arrow(pc.struct_field(struct.to_arrow(len(struct)), [names.index(name.lower())]))


def named(arguments: Sequence[Vector]) -> Vector:
    """``named_struct``: names and values in turn."""
    parts = arguments[1::2]
    if any(part.failed is not None for part in parts):
        raise UninterpretableError("a struct of values that fail")
    names = [name.to_arrow(1)[0].as_py() for name in arguments[::2]]
    length = common_length(*parts)
    return from_arrow(pa.StructArray.from_arrays([p.to_arrow(length) for p in parts], names=names))


def named_fields(parts: Sequence[Scalar]) -> list[Scalar]:
    """Return the names and values of ``struct`` in turn, as ``named_struct`` has them."""
    fields: list[Scalar] = []
    for number, part in enumerate(parts, 1):
        value = part.this if isinstance(part, exp.Alias) else part
        column = isinstance(value, exp.Column | exp.Dot)
        name = part.alias_or_name if column or isinstance(part, exp.Alias) else f"col{number}"
        fields += [exp.Literal.string(name), value]
    return fields


_MOST = 1 << 24
"""So many elements are made, at most."""


def list_type(element: pa.DataType) -> pa.DataType:
    """The type of arrays of a type."""
    return pa.list_(pa.field("element", element))


class ListVectors:
    """The arrays of a column, as CSR segments of their elements."""

    def __init__(self, vector: Vector) -> None:
        if not pa.types.is_list(vector.type) or vector.failed is not None:
            raise UninterpretableError(f"the elements of {vector.type}")
        array = vector.to_arrow(len(vector))
        self.null: Array = array.is_null().to_numpy(zero_copy_only=False)
        self.offsets, self.members = list_layout(array)

    def __len__(self) -> int:
        return len(self.null)

    @property
    def sizes(self) -> Array:
        """The number of elements of each array."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Array:
        """The array of every element."""
        return owners_of(self.offsets)

    @property
    def places(self) -> Array:
        """The place of every element in its array."""
        return places_of(self.offsets)

    def of(self, offsets: Array, members: pa.Array) -> Vector:
        """Arrays of other elements; NULL where these are."""
        array = lists_of(offsets, members, self.null)
        return from_arrow(array.cast(list_type(members.type)))

    def kept(self, chosen: Array) -> Vector:
        """The arrays of some of their elements, given by a Boolean array."""
        sizes = np.bincount(self.owners[chosen], minlength=len(self))
        return self.of(bounds(sizes), self.members.take(pa.array(np.flatnonzero(chosen))))

    def known(self) -> Array:
        """Boolean array: the elements that are not NULL."""
        known: Array = self.members.is_valid().to_numpy(zero_copy_only=False)
        return known


def of_values(arguments: Sequence[Vector]) -> Vector:
    """``array``: of a value from every argument."""
    if not arguments:
        return from_arrow(pa.array([[]], list_type(pa.null())))
    kind = unify(*(argument.type for argument in arguments))
    length, parts = common_length(*arguments), [cast(part, kind) for part in arguments]
    if any(part.failed is not None for part in parts):
        raise UninterpretableError("an array of values that fail")
    members = pa.concat_arrays([part.to_arrow(length) for part in parts])
    width = len(parts)
    order = np.arange(length * width).reshape(width, length).T.ravel()
    array = lists_of(np.arange(length + 1) * width, members.take(pa.array(order)))
    return from_arrow(array.cast(list_type(kind)))


def of_entries(arguments: Sequence[Vector]) -> Vector:
    """``map``: keys and values in turn."""
    if len(arguments) % 2:
        raise UninterpretableError("a map of keys without values")
    length = common_length(*arguments)
    parts = [part.broadcast(length) for part in arguments]
    keys, items = (ListVectors(of_values(parts[start::2])) for start in (0, 1))
    return _map(keys, keys.members, items.members)


def map_from_entries(arguments: Sequence[Vector]) -> Vector:
    """``map_from_entries``: of an array of structs of key and value."""
    entries = ListVectors(arguments[0])
    kind = entries.members.type
    if not pa.types.is_struct(kind) or kind.num_fields != 2 or not entries.known().all():
        raise UninterpretableError(f"a map from {kind}")
    keys, items = entries.members.flatten()
    return _map(entries, keys, items)


def _map(lists: ListVectors, keys: pa.Array, items: pa.Array) -> Vector:
    """The maps of some keys and values. Spark refuses keys that are NULL or come twice."""
    pairs = {(o, repr(k)) for o, k in zip(lists.owners.tolist(), keys.to_pylist(), strict=True)}
    if len(pairs) < len(keys) or keys.null_count:
        raise UninterpretableError("a map with a key that is NULL or comes twice")
    return from_arrow(maps_of(lists.offsets, keys, items, lists.null))


def sequence(arguments: Sequence[Vector]) -> Vector:
    """``sequence``: the integers from one to another, by ones."""
    start, stop = arguments
    if not all(pa.types.is_signed_integer(part.type) for part in arguments):
        raise UninterpretableError(f"a sequence of {start.type}")
    if start.failed is not None or stop.failed is not None:
        raise UninterpretableError("a sequence between values that fail")
    length = common_length(*arguments)
    first, last = start.broadcast(length), stop.broadcast(length)
    null = either(first.null, last.null)
    step = np.where(first.values <= last.values, 1, -1)
    sizes = np.abs(last.values - first.values) + 1
    if null is not None:
        sizes = np.where(null, 0, sizes)
    owners, places, offsets = _sequences(sizes)
    members = pa.array(first.values[owners] + step[owners] * places)
    kind = list_type(unify(start.type, stop.type))
    return from_arrow(lists_of(offsets, members, null).cast(kind))


def _sequences(sizes: Array) -> tuple[Array, Array, Array]:
    """Return the array and the place of each member of arrays of some sizes, and their offsets."""
    if sizes.sum() > _MOST:
        raise UninterpretableError("a sequence of many values")
    offsets = bounds(sizes)
    return owners_of(offsets), places_of(offsets), offsets


def dates_between(start: Vector, stop: Vector, number: int, unit: str) -> Vector:
    """``sequence``: the dates from one to another by whole days (``D``) or months (``M``)."""
    if number < 1 or not all(pa.types.is_date32(end.type) for end in (start, stop)):
        raise UninterpretableError(f"a sequence of {start.type}")
    rows = common_length(start, stop)
    first, last = (end.to_arrow(rows).to_numpy(zero_copy_only=False) for end in (start, stop))
    null = np.isnat(first) | np.isnat(last)
    if start.failed is not None or stop.failed is not None or np.any(last < first):
        raise UninterpretableError("a sequence that goes back, or between values that fail")
    first, last = (np.where(null, np.datetime64(0, "D"), end) for end in (first, last))
    units = (last.astype(f"M8[{unit}]") - first.astype(f"M8[{unit}]")).astype(np.int64) // number
    sizes = np.where(null, 0, units + (days_later(first, units * number, unit) <= last))
    owners, places, offsets = _sequences(sizes)
    members = days_later(first[owners], places * number, unit)
    lists = lists_of(offsets, pa.array(members, pa.date32()), null)
    return from_arrow(lists.cast(list_type(pa.date32())))


def sort_array(arguments: Sequence[Vector]) -> Vector:
    """``sort_array``: ascending with NULLs first, or descending with them last."""
    descending = False
    if len(arguments) == 2:
        flag = arguments[1]
        if len(flag) != 1 or not pa.types.is_boolean(flag.type) or flag.null is not None:
            raise UninterpretableError("an order that varies")
        descending = not bool(flag.values[0])
    return _sorted(arguments[0], descending, nulls_first=not descending)


def array_sort(arguments: Sequence[Vector]) -> Vector:
    """``array_sort``: ascending with NULLs last."""
    return _sorted(arguments[0], False, nulls_first=False)


def _sorted(array: Vector, descending: bool, *, nulls_first: bool) -> Vector:
    lists = ListVectors(array)
    known = lists.known()
    ranks = np.where(known, ranked(lists.members), 0)
    keys = [-ranks if descending else ranks, known if nulls_first else ~known, lists.owners]
    return lists.of(lists.offsets, lists.members.take(pa.array(np.lexsort(keys))))


def size(arguments: Sequence[Vector]) -> Vector:
    """``size``: what it is of NULL is a setting of Spark."""
    (array,) = arguments
    if pa.types.is_map(array.type):
        array = map_part(0)(arguments)
    lists = ListVectors(array)
    if lists.null.any():
        raise UninterpretableError("the size of NULL")
    return Vector(pa.int32(), lists.sizes.astype(np.int64))


def extreme(*, largest: bool) -> Callable[[Sequence[Vector]], Vector]:
    """``array_max`` and ``array_min``: NULLs are left out."""

    def run(arguments: Sequence[Vector]) -> Vector:
        ordered = ListVectors(_sorted(arguments[0], largest, nulls_first=False))
        index = np.full(len(ordered), -1, dtype=np.int64)
        there = ordered.sizes > 0
        index[there] = ordered.offsets[:-1][there]
        return from_arrow(ordered.members.take(pa.array(index, mask=~there)))

    return run


def array_contains(arguments: Sequence[Vector]) -> Vector:
    """``array_contains``: NULL where the value is not found and an element is NULL."""
    array, value = arguments
    length = common_length(array, value)
    lists, sought = ListVectors(array.broadcast(length)), value.broadcast(length)
    equal = compare("=", from_arrow(lists.members), taken(sought, lists.owners))
    if equal.failed is not None:
        raise UninterpretableError("a value that fails")
    true = equal.values & ~equal.nulls
    found = np.bincount(lists.owners[true], minlength=length) > 0
    unknown = np.bincount(lists.owners[equal.nulls], minlength=length) > 0
    nulls = lists.null | _explicit_nulls(sought) | (~found & unknown)
    return boolean(found, nulls)


def array_distinct(arguments: Sequence[Vector]) -> Vector:
    """``array_distinct``: of equal elements the first."""
    lists = ListVectors(arguments[0])
    known = lists.known()
    ranks = np.where(known, ranked(lists.members), 0)
    keys = np.stack([lists.owners, known.astype(np.int64), ranks])
    _, first = np.unique(keys, axis=1, return_index=True)
    chosen = mask_of(first, len(lists.members))
    return lists.kept(chosen)


def array_compact(arguments: Sequence[Vector]) -> Vector:
    """``array_compact``: without NULLs."""
    lists = ListVectors(arguments[0])
    return lists.kept(lists.known())


def slice_of(arguments: Sequence[Vector]) -> Vector:
    """``slice``: so many elements from one on, counted from 1."""
    array, start, count = arguments
    first, many = (_constant(part) for part in (start, count))
    if first is None or many is None or first < 1 or many < 0:
        raise UninterpretableError("a slice at places that vary, or from the end")
    lists = ListVectors(array)
    places = lists.places
    return lists.kept((places >= first - 1) & (places < first - 1 + many))


def get(arguments: Sequence[Vector]) -> Vector:
    """``get``: the element at a place counted from 0; NULL where there is none."""
    array, place = arguments
    if not pa.types.is_signed_integer(place.type) or place.failed is not None:
        raise UninterpretableError(f"an element at {place.type}")
    length = common_length(array, place)
    lists, at = ListVectors(array.broadcast(length)), place.broadcast(length)
    there = ~lists.null & ~at.nulls & (at.values >= 0) & (at.values < lists.sizes)
    index = np.where(there, lists.offsets[:-1] + np.where(there, at.values, 0), -1)
    return from_arrow(lists.members.take(pa.array(index, mask=~there)))


def map_part(number: int) -> Callable[[Sequence[Vector]], Vector]:
    """``map_keys`` and ``map_values``: the keys or the values of a map as an array."""

    def run(arguments: Sequence[Vector]) -> Vector:
        (entries,) = arguments
        if not pa.types.is_map(entries.type) or entries.failed is not None:
            raise UninterpretableError(f"the keys of {entries.type}")
        lists = ListVectors(from_arrow(entries_of(entries.to_arrow(len(entries)))))
        return lists.of(lists.offsets, lists.members.flatten()[number])

    return run


def taken(vector: Vector, index: Array) -> Vector:
    """The values of a vector at some rows; one that stands for all of them stays."""
    if len(vector) == 1:
        return vector
    null, failed = (None if mask is None else mask[index] for mask in (vector.null, vector.failed))
    if isinstance(vector.values, np.ndarray):
        return Vector(vector.type, vector.values[index], null, failed)
    return Vector(vector.type, vector.values.take(pa.array(index)), null, failed)


def _explicit_nulls(vector: Vector) -> Array:
    if isinstance(vector.values, np.ndarray):
        return vector.nulls
    array = vector.to_arrow(len(vector))
    nulls: Array = pc.is_null(array).to_numpy(zero_copy_only=False)
    return nulls


def _constant(vector: Vector) -> int | None:
    """The integer that a vector is for all rows; None: it varies, or is none."""
    exact = len(vector) == 1 and vector.null is None and vector.failed is None
    if not exact or not isinstance(vector.values, np.ndarray):
        return None
    return int(vector.values[0])
