"""Columns of token numbers compute what arrays of their elements do, element by element."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring import CapabilityError, ValuationError, semirings
from semiring.base import Semiring
from semiring.columns import Travel, ValuedScan, columns_of
from semiring.columns.arrays import ArrayColumns
from semiring.columns.base import Columns
from semiring.columns.formulas import FormulaColumns
from semiring.columns.intervals import IntervalColumns
from semiring.encodings.derivations import Derivations
from semiring.encodings.quotients import Quotient
from semiring.encodings.texts import polynomials
from semiring.encodings.valuation import Valuation
from semiring.encodings.vocabulary import TokenScan, number_tokens
from semiring.polynomial import Polynomial
from semiring.semirings import (
    Counting,
    Formula,
    Polynomials,
    PosBool,
    Sensitivity,
    Trio,
    Validity,
    Which,
    Why,
)
from semiring.token import Token

NUMBERED = [
    semiring for semiring in semirings.ALL if isinstance(semiring, Quotient | Which | Sensitivity)
]
LENGTH = 4
"""How many places each column has."""

PLACES = st.integers(0, LENGTH - 1)
KEYS = st.lists(st.none() | st.integers(-1, 2), min_size=LENGTH, max_size=LENGTH)
OPERANDS = st.integers(0, 20)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("product"), st.lists(OPERANDS, max_size=3)),
        st.tuples(st.just("fold"), OPERANDS, st.lists(PLACES, min_size=LENGTH, max_size=LENGTH)),
        st.tuples(st.just("take"), OPERANDS, st.lists(PLACES, min_size=LENGTH, max_size=LENGTH)),
        st.tuples(st.just("plus"), OPERANDS, OPERANDS),
        st.tuples(st.just("monus"), OPERANDS, OPERANDS),
        st.tuples(st.just("delta"), OPERANDS),
        st.tuples(st.just("repeat"), st.lists(st.integers(0, 3), min_size=4, max_size=4)),
        st.tuples(st.just("put"), OPERANDS, OPERANDS, st.sets(PLACES)),
    ),
    max_size=5,
)
"""What to compute from the columns that there are, by number, in turn."""

VALUES = st.lists(
    st.tuples(st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=3), st.booleans()),
    max_size=3,
)
"""Given values: sums of products of tokens, by number; of tokens that are there, or of others."""


@pytest.mark.parametrize("semiring", [*NUMBERED, Validity()], ids=lambda semiring: semiring.name)
@given(keys=st.tuples(KEYS, KEYS, KEYS), values=VALUES, steps=STEPS)
def test_columns_compute_what_arrays_do(
    semiring: Semiring[Any], keys: tuple[Any, ...], values: list[Any], steps: list[Any]
) -> None:
    sources = _sources(semiring, keys, values)
    texts = _run(columns_of(semiring, sources), sources, steps)
    assert texts == _run(ArrayColumns(semiring, sources), sources, steps)


@pytest.mark.parametrize("semiring", semirings.ALL, ids=lambda semiring: semiring.name)
@given(keys=st.tuples(KEYS, KEYS, KEYS), values=VALUES, steps=STEPS)
def test_columns_that_have_travelled_are_what_they_were(
    semiring: Semiring[Any], keys: tuple[Any, ...], values: list[Any], steps: list[Any]
) -> None:
    sources = _sources(semiring, keys, values)
    valuations = {"r": sources[0].valuation, "s": sources[2].valuation}
    travel = Travel(semiring, valuations, {"r": [pa.int64()], "s": [pa.int64()]})
    here = travel.columns(sources, {})
    assert isinstance(here, ArrayColumns) == isinstance(columns_of(semiring, {}), ArrayColumns)
    columns_made, _ = _made(here, sources, steps)
    sent = {number: here.sent(column) for number, column in enumerate(columns_made)}
    for column in sent.values():
        assert column.type == travel.carrier
        assert column.null_count == 0
    # As a part of longer columns, and beside others.
    parts = {
        number: pa.concat_arrays([column, column]).slice(LENGTH) for number, column in sent.items()
    }
    there = travel.columns({}, parts)
    received = [there.received(number) for number in parts]
    assert [there.to_arrow(column) for column in received] == [
        here.to_arrow(column) for column in columns_made
    ]
    for first, other in zip(
        range(len(columns_made)), reversed(range(len(columns_made))), strict=True
    ):
        expected = here.product([columns_made[first], columns_made[other]], LENGTH)
        actual = there.product([received[first], received[other]], LENGTH)
        assert there.to_arrow(actual) == here.to_arrow(expected)


@given(
    keys=st.tuples(KEYS, KEYS, KEYS),
    values=VALUES,
    steps=STEPS,
    numbers=st.lists(st.integers(0, 3), min_size=5, max_size=5),
)
def test_formulas_say_what_arrays_have(
    keys: tuple[Any, ...], values: list[Any], steps: list[Any], numbers: list[int]
) -> None:
    """The texts of formulas and the expressions that arrays have count alike."""
    sources = _sources(Formula(), keys, values)
    columns, arrays = columns_of(Formula(), sources), ArrayColumns(Formula(), sources)
    texts, _ = _made(columns, sources, steps)
    elements, _ = _made(arrays, sources, steps)
    for text, expected in zip(texts, elements, strict=True):
        assert [
            _count(text_of_element, numbers)
            for text_of_element in columns.to_arrow(text).to_pylist()
        ] == [
            element.evaluate(Counting(), lambda token: numbers[token.key[0] or 0])
            for element in Formula().unpack(expected)
        ]


class Natural(int):
    """A number whose difference is ⊖."""

    def __add__(self, other: int) -> Natural:
        return Natural(int(self) + other)

    def __mul__(self, other: int) -> Natural:
        return Natural(int(self) * other)

    def __pow__(self, other: int) -> Natural:  # type: ignore[override]
        return Natural(int(self) ** int(other))

    def __sub__(self, other: int) -> Natural:
        return Natural(max(int(self) - other, 0))


def _count(text: str, numbers: list[int]) -> int:
    """The value of the text of a formula, from numbers for tokens by their keys."""

    def number(match: re.Match[str]) -> str:
        return f"Natural({numbers[int(match[1])] if match[1] else match[2]})"

    python = re.sub(r"\b[a-z]:(-?\d+)|([0-9]+)", number, text.replace(":NULL", ":0"))
    powers = str.maketrans("²³⁴⁵⁶⁷⁸⁹⁰¹", "2345678901")
    python = re.sub("[²³⁴⁵⁶⁷⁸⁹⁰¹]+", lambda match: f"**{match[0].translate(powers)}", python)
    python = python.replace("·", "*").replace("⊖", "-").replace("δ(", "min(Natural(1), ")
    return int(eval(python))


def test_formulas_are_known_by_their_whole_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is shown of two may be the same."""
    monkeypatch.setattr("semiring.columns.formulas.PRINTED_TERMS", 2)
    scan = TokenScan("r", [pa.array(range(8))], 8)
    sources = {0: ValuedScan(Valuation.compile(Formula(), "r"), lambda: scan)}
    columns = columns_of(Formula(), sources)
    tokens = columns.tokens(0)
    pair = columns.take(tokens, np.array([0, 1, 2, 3, 0, 1, 2, 4]))
    sums = columns.delta(columns.fold(pair, np.array([0, 4, 8])))
    shown = "δ(r:0 + r:1 + … (2 more terms))"
    assert columns.to_arrow(sums).to_pylist() == [shown] * 2
    less = columns.monus(columns.take(sums, np.array([0, 0])), sums)
    assert columns.to_arrow(less).to_pylist() == ["0", f"({shown} ⊖ {shown})"]
    again = columns.delta(columns.plus(sums, columns.zeros(2), 2))
    assert columns.to_arrow(again).to_pylist() == [shown] * 2, "δ(δ(x)) = δ(x)"


def test_tokens_travel_by_keys_of_any_type_and_width() -> None:
    columns = [pa.array([3, 1, 3, None]), pa.array(["b", "a", None, "x"])]
    scans = {
        "wide": columns,
        "none": [],
        "days": [pa.array([date(2020, 1, n) for n in range(1, 5)])],
    }
    sources = {
        name: ValuedScan(
            Valuation.compile(Why(), name), partial(TokenScan, name, columns_of_scan, 4)
        )
        for name, columns_of_scan in scans.items()
    }
    keys = {
        name: [column.type for column in columns_of_scan] for name, columns_of_scan in scans.items()
    }
    travel = Travel(Why(), {name: source.valuation for name, source in sources.items()}, keys)
    here = travel.columns(sources, {})
    product = here.product([here.tokens(name) for name in sources], 4)
    there = travel.columns({}, {0: here.sent(product)})
    assert there.to_arrow(there.received(0)).to_pylist() == [
        "{{days:2020-01-01, none:(), wide:3|b}}",
        "{{days:2020-01-02, none:(), wide:1|a}}",
        "{{days:2020-01-03, none:(), wide:3|NULL}}",
        "{{days:2020-01-04, none:(), wide:NULL|x}}",
    ]


def test_values_of_a_function_name_any_token() -> None:
    given_ = Valuation.compile(Why(), "r", lambda token: Why().default(Token("q", token.key)))
    travel = Travel(Why(), {"r": given_}, {"r": [pa.int64()]})
    source = ValuedScan(given_, lambda: TokenScan("r", [pa.array([1, 2])], 2))
    here = travel.columns({0: source}, {})
    assert not isinstance(here, ArrayColumns)
    there = travel.columns({}, {0: here.sent(here.tokens(0))})
    assert there.to_arrow(there.received(0)).to_pylist() == ["{{q:1}}", "{{q:2}}"]


def test_instants_of_a_function_travel_by_themselves() -> None:
    given_ = Valuation.compile(Validity(), "r", _years)
    travel = Travel(Validity(), {"r": given_}, {"r": [pa.int64()]})
    source = ValuedScan(given_, lambda: TokenScan("r", [pa.array([2, 3, 9])], 3))
    here = travel.columns({0: source}, {})
    assert isinstance(here, IntervalColumns)
    sent = here.sent(here.tokens(0))
    assert sent.type == travel.carrier
    # One pass gets parts of others, and knows other instants.
    there = travel.columns({}, {0: sent.slice(1), 1: sent.slice(0, 2)})
    product = there.product([there.received(0), there.received(1)], 2)
    assert there.to_arrow(product).to_pylist() == ["[2002-01-01, 2003-01-01)", "∅"]
    assert there.to_arrow(there.received(0)).to_pylist() == [
        "[-∞, 2003-01-01)",
        "[2003-01-01, ∞)",
    ]


def _years(token: Token) -> Any:
    """From the year of a token's key; or up to it, or from then on."""
    year = token.key[0]
    start, stop = date(2000 + year, 1, 1), date(2001 + year, 1, 1)
    return {2: ((start, stop),), 3: ((None, start),)}.get(year, ((date(2003, 1, 1), None),))


def _sources(
    semiring: Semiring[Any], keys: tuple[Any, ...], values: list[Any]
) -> dict[Hashable, ValuedScan]:
    """Two scans of r, whose tokens are themselves, and one of s, some of whose have values."""
    given_values = {
        key: semiring.sum(
            semiring.product(_element(semiring, n, there) for n in factors) for factors in terms
        )
        for key, (terms, there) in enumerate(values)
    }
    itself = Valuation.compile(semiring, "r")
    valuations = (itself, itself, Valuation.compile(semiring, "s", given_values))

    def scan(number: int) -> Callable[[], TokenScan]:
        column = pa.array(keys[number], pa.int64())
        absent = column.is_null().to_numpy(zero_copy_only=False)
        return lambda: TokenScan("rrs"[number], [column], LENGTH, absent)

    return {
        number: ValuedScan(valuation, scan(number)) for number, valuation in enumerate(valuations)
    }


def _element(semiring: Semiring[Any], number: int, there: bool) -> Any:
    if isinstance(semiring, Validity):
        return semiring.check((number, number + 2) if there else (None, number))
    return semiring.default(Token("r" if there else "q", number))


def _run(columns: Columns[Any], sources: dict[Hashable, ValuedScan], steps: list[Any]) -> list[Any]:
    """All columns that steps make, as text; up to the error that one ends in."""
    columns_made, error = _made(columns, sources, steps)
    return [*(columns.to_arrow(column).to_pylist() for column in columns_made), error]


def _made(
    columns: Columns[Any], sources: dict[Hashable, ValuedScan], steps: list[Any]
) -> tuple[list[Any], str]:
    """All columns that steps make; up to the error that one ends in."""
    columns_made = [columns.zeros(LENGTH), columns.ones(LENGTH), *map(columns.tokens, sources)]
    for step in steps:
        try:
            columns_made.append(_step(columns, columns_made, *step))
        except CapabilityError as error:
            return columns_made, str(error)
    return columns_made, ""


def _step(columns: Columns[Any], columns_made: list[Any], name: str, *given_: Any) -> Any:
    def at(number: int) -> Any:
        return columns_made[number % len(columns_made)]

    if name == "product":
        return columns.product([at(number) for number in given_[0]], LENGTH)
    if name == "fold":
        owners = sorted(given_[1])
        return columns.fold(at(given_[0]), np.searchsorted(owners, np.arange(LENGTH + 1)))
    if name == "take":
        return columns.take(at(given_[0]), np.array(given_[1]))
    if name == "repeat":
        return columns.repeat(np.array(given_[0]))
    if name == "delta":
        return columns.delta(at(given_[0]))
    if name == "monus":
        return columns.monus(at(given_[0]), at(given_[1]))
    if name == "plus":
        return columns.plus(at(given_[0]), at(given_[1]), LENGTH)
    old, new, places = at(given_[0]), at(given_[1]), sorted(given_[2])
    chosen = np.arange(LENGTH)
    chosen[places] = LENGTH + np.array(places, dtype=np.int64)
    return columns.take(columns.concatenate((old, new)), chosen)


def test_elements_made_of_tokens_are_computed_on_their_numbers() -> None:
    assert {semiring.name for semiring in NUMBERED} == {
        "Why",
        "Which",
        "PosBool",
        "BooleanPolynomials",
        "Trio",
        "Sorp",
        "Polynomials",
        "Sensitivity",
    }
    assert isinstance(columns_of(Formula(), {}), FormulaColumns)
    assert isinstance(columns_of(Counting(), {}), ArrayColumns)


def test_instants_need_an_order() -> None:
    instants = {0: Validity().check((1, 2)), 1: Validity().check((date(2020, 1, 1), None))}
    with pytest.raises(ValuationError, match="date and int have no order in common"):
        _two(Validity(), instants)


def _two(semiring: Semiring[Any], given_values: Any) -> Any:
    """The values of the tokens r:0, r:1."""
    scan = TokenScan("r", [pa.array([0, 1])], 2)
    source = ValuedScan(Valuation.compile(semiring, "r", given_values), lambda: scan)
    return columns_of(semiring, {"r": source})


@pytest.mark.parametrize("semiring", [Polynomials(), Trio()], ids=lambda semiring: semiring.name)
def test_coefficients_do_not_overflow(semiring: Semiring[Any]) -> None:
    many = {0: semiring.from_int(10**12), 1: semiring.from_int(2**70)}
    columns = _two(semiring, many)
    values = columns.tokens("r")
    squared = columns.product([values, values], 2)
    assert columns.to_arrow(squared).to_pylist() == [str(10**24), str(2**140)]
    total = columns.fold(squared, np.array([0, 2]))
    assert columns.to_arrow(total).to_pylist() == [str(10**24 + 2**140)]


def test_of_many_witnesses_the_minimal_ones_are_found() -> None:
    """Divisors are held against rows in pieces."""
    random = np.random.default_rng(3)
    tokens = [[Token("t", int(n)) for n in row] for row in random.integers(0, 40, (900, 4))]
    witnesses = [frozenset(row[: 2 + number % 3]) for number, row in enumerate(tokens)]
    some = frozenset(witnesses)
    columns = _two(PosBool(), {0: PosBool().check(some), 1: PosBool().zero})
    whys = _two(Why(), {0: some, 1: some})
    expected = PosBool().render(PosBool().check(some))
    assert columns.to_arrow(columns.tokens("r")).to_pylist() == [expected, "{}"]
    assert whys.to_arrow(whys.tokens("r")).to_pylist() == [Why().render(some)] * 2


def test_terms_past_the_limit_are_counted() -> None:
    (codes,), _, tokens = number_tokens([TokenScan("r", [pa.array(range(9))], 9)])
    sums = Derivations.of_tokens(tokens, codes).summed(np.array([0, 5, 9, 9]))
    expected = [
        Polynomial.sum(Polynomial.token(Token("r", i)) for i in rows_of_segment).truncated(2)
        for rows_of_segment in (range(5), range(5, 9))
    ]
    assert polynomials(sums, 2).to_pylist() == [*expected, "0"]
