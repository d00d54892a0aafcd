"""Functions of texts that are evaluated without Spark, each exactly as Spark does."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rewriter.interpret.vector import UninterpretableError, Vector, common_length, from_arrow

Function: TypeAlias = Callable[[Sequence[Vector]], Vector]

_ALIKE = (range(0x180), range(0x370, 0x530))
"""Code points of letters (Latin, Greek, Cyrillic) that have the same cases in every version of
Unicode that Python and Java may have: phonetic letters got capitals in Unicode 16."""

_SIGMA = "Σ"
"""Its lower case depends on its place in the word."""


def array_of(vector: Vector, length: int | None = None) -> pa.Array:
    """Return the values as an Arrow array."""
    return vector.to_arrow(len(vector) if length is None else length)


def check_texts(vectors: Sequence[Vector]) -> None:
    """Raise UninterpretableError unless all vectors are texts."""
    for vector in vectors:
        if not pa.types.is_string(vector.type):
            raise UninterpretableError(f"a function of {vector.type}")


def constant_text(vector: Vector) -> str:
    """Return the text that all rows have.

    Raises
    ------
    UninterpretableError
        For a column, and for NULL.
    """
    check_texts([vector])
    text: str | None = array_of(vector)[0].as_py() if len(vector) == 1 else None
    if text is None:
        raise UninterpretableError("a text that varies")
    return text


def _mapped(array: pa.Array, function: Callable[[str], str]) -> pa.Array:
    """Apply a function to every text, once to equal ones."""
    encoded = array.dictionary_encode()
    values = pa.array([function(text) for text in encoded.dictionary.to_pylist()], pa.string())
    return values.take(encoded.indices)


def case(ascii_kernel: Callable[[Any], Any], general: Callable[[str], str]) -> Function:
    """Return UPPER or LOWER: by an Arrow kernel for ASCII, else letter by letter."""

    def run(arguments: Sequence[Vector]) -> Vector:
        check_texts(arguments)
        array = array_of(arguments[0])
        if pc.all(pc.string_is_ascii(array), min_count=0).as_py():
            return from_arrow(ascii_kernel(array))
        return from_arrow(_mapped(array, checked))

    def checked(text: str) -> str:
        if not all(any(ord(c) in known for known in _ALIKE) and c != _SIGMA for c in text):
            raise UninterpretableError("letters whose case depends on the version of Unicode")
        return general(text)

    return run


def trimmed(kernel: Callable[..., Any]) -> Function:
    """Return TRIM, LTRIM or RTRIM of spaces, and of nothing else."""

    def run(arguments: Sequence[Vector]) -> Vector:
        check_texts(arguments)
        return from_arrow(kernel(array_of(arguments[0]), characters=" "))

    return run


def length(arguments: Sequence[Vector]) -> Vector:
    """LENGTH: the number of characters."""
    check_texts(arguments)
    return from_arrow(pc.utf8_length(array_of(arguments[0])).cast(pa.int32()))


def concat(arguments: Sequence[Vector]) -> Vector:
    """CONCAT, and ``||``: NULL where a part is."""
    check_texts(arguments)
    rows = common_length(*arguments)
    return from_arrow(pc.binary_join_element_wise(*(array_of(a, rows) for a in arguments), ""))


def concat_ws(arguments: Sequence[Vector]) -> Vector:
    """CONCAT_WS: parts that are NULL are left out."""
    check_texts(arguments)
    rows = common_length(*arguments)
    separator, *parts = (array_of(argument, rows) for argument in arguments)
    # Rows without a valid part are none to Arrow, which leaves them out.
    nothing = reduce(pc.and_, map(pc.is_null, parts), pa.array(np.ones(rows, dtype=np.bool_)))
    empty = pc.if_else(nothing, "", None)
    known = pc.fill_null(separator, "")
    joined = pc.binary_join_element_wise(empty, *parts, known, null_handling="skip")
    return from_arrow(pc.if_else(pc.is_valid(separator), joined, None))


def replace(arguments: Sequence[Vector]) -> Vector:
    """REPLACE of a constant text by another one; of an empty text nothing is replaced."""
    check_texts(arguments[:1])
    search, replacement = map(constant_text, arguments[1:])
    array = array_of(arguments[0])
    if not search:
        return from_arrow(array)
    return from_arrow(pc.replace_substring(array, pattern=search, replacement=replacement))


def found(kernel: Callable[..., Any]) -> Function:
    """Return a test whether a text has a constant one: STARTSWITH, ENDSWITH, CONTAINS."""

    def run(arguments: Sequence[Vector]) -> Vector:
        check_texts(arguments[:1])
        pattern = constant_text(arguments[1])
        return from_arrow(kernel(array_of(arguments[0]), pattern=pattern))

    return run


def like(value: Vector, pattern: Vector) -> Vector:
    """LIKE of a constant pattern without escapes."""
    check_texts([value])
    wanted = constant_text(pattern)
    if "\\" in wanted:
        raise UninterpretableError("a pattern with escapes")
    return from_arrow(pc.match_like(array_of(value), pattern=wanted))


def substring(arguments: Sequence[Vector]) -> Vector:
    """SUBSTRING at constant places from the start."""
    value, places = arguments[0], arguments[1:]
    check_texts([value])
    if not all(len(part) == 1 and isinstance(part.values, np.ndarray) for part in places):
        raise UninterpretableError("a substring at places that vary")
    numbers = [int(part.values[0]) for part in places]
    if min(numbers) < 0 or any(part.null is not None for part in places):
        raise UninterpretableError("a substring from the end")
    # Position 0 is read as 1.
    first = max(numbers[0] - 1, 0)
    stop = first + numbers[1] if len(numbers) > 1 else None
    return from_arrow(pc.utf8_slice_codeunits(array_of(value), first, stop))


def hashed(name: str) -> Function:
    """Return a hash of the UTF-8 of texts, in hexadecimal digits."""

    def of_text(text: str) -> str:
        return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()

    def run(arguments: Sequence[Vector]) -> Vector:
        check_texts(arguments[:1])
        return from_arrow(_mapped(array_of(arguments[0]), of_text))

    return run


def sha2(arguments: Sequence[Vector]) -> Vector:
    """SHA2 of a constant number of bits."""
    bits = arguments[1]
    if len(bits) != 1 or bits.null is not None or not isinstance(bits.values, np.ndarray):
        raise UninterpretableError("a hash of sizes that vary")
    size = int(bits.values[0]) or 256
    if size not in (224, 256, 384, 512):
        raise UninterpretableError("a hash of another size")
    return hashed(f"sha{size}")(arguments)
