"""Gates read as canonical polynomials, expressions and tensors; large ones build terms lazily."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias, cast, overload

import numpy as np
import pyarrow as pa

from semiring.arrays.exact import integer_array
from semiring.arrays.segments import ascending
from semiring.base import Array
from semiring.circuit.circuit import AnnotationCircuit
from semiring.circuit.evaluation import COUNTING, ArrayValues, operand_values
from semiring.circuit.gates import (
    CANONICAL,
    COMPARE,
    CONDITION,
    CONSTANT,
    DELTA,
    MONUS,
    ONE,
    PLAIN,
    POLYNOMIAL,
    PRODUCT,
    SUM,
    TENSOR,
    TOKEN,
    ZERO,
)
from semiring.circuit.order import CanonicalOrder, first_monomials
from semiring.circuit.values import SMALL, CircuitRows, CircuitTensor, InCircuit, formal_value
from semiring.expression import (
    Atom,
    Compare,
    Condition,
    Constant,
    Delta,
    Expression,
    Monus,
    Product,
    Sum,
    compare,
    condition,
    simplify,
)
from semiring.monomials import Monomial
from semiring.polynomial import Polynomial
from semiring.semirings.expressions import Expressions
from semiring.tensor import Tensor
from semiring.token import Token, normal_value
from semiring.value import Operand

Annotation: TypeAlias = Polynomial | Expression

_ALGEBRA = Expressions()


class NamedGates(Sequence[Token]):
    """The tokens of gates, built lazily."""

    def __init__(self, reading: CircuitReading, gates: Array) -> None:
        self._reading = reading
        self._gates = gates

    def __len__(self) -> int:
        return len(self._gates)

    @overload
    def __getitem__(self, place: int) -> Token: ...

    @overload
    def __getitem__(self, place: slice) -> list[Token]: ...

    def __getitem__(self, place: int | slice) -> Token | list[Token]:
        named = self._reading.named(self._gates[place].reshape(-1))
        return named if isinstance(place, slice) else named[0]

    def __iter__(self) -> Iterator[Token]:
        return iter(self._reading.named(self._gates))

    def at(self, places: Array) -> list[Token]:
        """Return the tokens at some positions."""
        return self._reading.named(self._gates[places])


class CircuitReading:
    """The canonical objects of a circuit's gates.

    Parameters
    ----------
    tokens
        The tokens by number.
    """

    def __init__(
        self, circuit: AnnotationCircuit, tokens: Callable[[Array], Sequence[Token]]
    ) -> None:
        self.circuit = circuit
        self._find_tokens = tokens
        self._tokens: dict[int, Token] = {}
        self._last_tokens: tuple[bytes, frozenset[Token]] = (b"", frozenset())
        self._expressions: dict[int, Expression] = {}
        self._annotations: dict[int, Annotation] = {}
        self.shown_as: dict[int, Callable[[int], CircuitTensor]] = {}
        """By gate, the tensors that are shown in a different form."""
        self._formal: dict[int, Any] = {}
        self.order = CanonicalOrder(circuit.gates, lambda gate: self.expression(gate).sort_key)

    # -- tokens ------------------------------------------------------------------------------

    def tokens(self, gates: Array | list[int]) -> frozenset[Token]:
        """Return the tokens below some gates; the last large set is cached."""
        numbers = self.token_gates(gates)
        key = numbers.tobytes()
        if self._last_tokens[0] == key:
            return self._last_tokens[1]
        found = frozenset(self.named(numbers))
        if len(found) > 1000:
            self._last_tokens = (key, found)
        return found

    def token_gates(self, gates: Array | list[int]) -> Array:
        """Return the gates of the tokens below some gates."""
        below = self.circuit.gates.reachable(np.asarray(gates))
        numbers: Array = below[self.circuit.gates.kind[below] == TOKEN]
        return numbers

    def named(self, gates: Array) -> list[Token]:
        """Return the tokens of gates, each built once."""
        known, numbers = self._tokens, gates.tolist()
        new = [gate for gate in numbers if gate not in known]
        if new:
            made = self._find_tokens(np.array(new, dtype=np.int64) - 2)
            known.update(zip(new, made, strict=True))
        return [known[gate] for gate in numbers]

    # -- annotations -------------------------------------------------------------------------

    def annotations(self, gates: Array) -> list[Annotation]:
        """Return gates as polynomials if possible, else as expressions."""
        known, store = self._annotations, self.circuit.gates
        new = ascending(np.array([g for g in gates.tolist() if g not in known], dtype=np.int64))
        if len(new):
            canonical, polynomial = store.has(new, CANONICAL), store.has(new, POLYNOMIAL)
            sums = store.kind[new] == SUM
            simple = new[canonical & polynomial & ~sums & (new != ZERO)]
            constant = store.kind[simple] == CONSTANT
            times = np.where(constant, store.payload[simple], 1)
            terms = self.monomials(np.where(constant, ONE, simple), times)
            made = (Polynomial({monomial: n}) for monomial, n in terms)
            known.update(zip(simple.tolist(), made, strict=True))
            formal = new[canonical & ~polynomial]
            for gate, expression in zip(formal.tolist(), self.expressions(formal), strict=True):
                object.__setattr__(expression, "origin", (self, gate))
                known[gate] = expression
            for gate in new[canonical & polynomial & sums].tolist():
                total = CircuitPolynomial(self, gate)
                known[gate] = total if total.size > SMALL else Polynomial(dict(total.terms))
            known.update((gate, self._by_algebra(gate)) for gate in new[~canonical].tolist())
            known.setdefault(ZERO, Polynomial.zero())
        return [known[gate] for gate in gates.tolist()]

    def annotation(self, gate: int) -> Annotation:
        """Return a gate as a polynomial if possible, else as an expression."""
        return self.annotations(np.array([gate]))[0]

    def _by_algebra(self, gate: int) -> Annotation:
        """Return the annotation of a gate with non-canonical structure, computed from its
        children.
        """
        store = self.circuit.gates
        kind = int(store.kind[gate])
        edges, _ = store.edges_of(np.array([gate]))
        label = store.label[edges].tolist()
        if kind == COMPARE:
            return simplify(compare(*self._comparison(gate)))
        if kind == CONDITION:
            return simplify(condition(self.operand(int(store.child[edges[0]]))))
        inner = self.annotations(store.child[edges])
        if kind == SUM:
            return _ALGEBRA.sum(_ALGEBRA.repeat(k, n) for k, n in zip(inner, label, strict=True))
        if kind == PRODUCT:
            powers = (_ALGEBRA.power(k, n) for k, n in zip(inner, label, strict=True))
            return _ALGEBRA.product(powers)
        if kind == DELTA:
            return _ALGEBRA.delta(inner[0])
        return _ALGEBRA.monus(*inner)

    def expression(self, gate: int) -> Expression:
        """Return a gate as an expression."""
        return self.expressions(np.array([gate]))[0]

    def expressions(self, gates: Array) -> list[Expression]:
        """Return gates as expressions, built together with all gates below, except terms of
        large sums.
        """
        known, store = self._expressions, self.circuit.gates
        new = np.array([gate for gate in gates.tolist() if gate not in known], dtype=np.int64)
        if len(new):
            below = store.reachable(new, closed=self._closed)
            for kind, layer in store.layers(below):
                made = self._layer(kind, layer)
                known.update(zip(layer.tolist(), made, strict=True))
        return [known[gate] for gate in gates.tolist()]

    def _closed(self, gates: Array) -> Array:
        """Return a Boolean array: the gates whose expressions are not built from their
        children's.
        """
        store = self.circuit.gates
        kinds = store.kind[gates]
        large = (kinds == SUM) & (store.sizes(gates) > SMALL)
        conditions = (kinds == COMPARE) | (kinds == CONDITION)
        closed: Array = large | conditions | ~store.has(gates, CANONICAL)
        return closed

    def _layer(self, kind: int, layer: Array) -> Iterable[Expression]:
        """Return the expressions of gates of one kind, from the known ones of their children."""
        store, known = self.circuit.gates, self._expressions
        payload = store.payload[layer].tolist()
        if kind == CONSTANT:
            return map(Constant, payload)
        if kind == TOKEN:
            return map(Atom, self.named(layer))
        closed = self._closed(layer)
        if closed.any():
            rest = iter(self._layer(kind, layer[~closed]) if not closed.all() else ())
            pairs = zip(layer.tolist(), closed.tolist(), strict=True)
            return [self._apart(kind, gate) if apart else next(rest) for gate, apart in pairs]
        if kind in (PRODUCT, SUM):
            edges, offsets = self.order.sorted_edges(layer)
            inner = [known[gate] for gate in store.child[edges].tolist()]
            parts = list(zip(inner, store.label[edges].tolist(), strict=True))
            build: Callable[[Any], Expression] = Product if kind == PRODUCT else Sum
            return [build(tuple(parts[a:b])) for a, b in pairwise(offsets.tolist())]
        edges, _ = store.edges_of(layer)
        ends = [known[gate] for gate in store.child[edges].tolist()]
        if kind == DELTA:
            return map(Delta, ends)
        assert kind == MONUS
        return map(Monus, ends[::2], ends[1::2])

    def _apart(self, kind: int, gate: int) -> Expression:
        """Return the expression of a gate that is not built from its children's expressions."""
        store = self.circuit.gates
        if not int(store.flags[gate]) & CANONICAL:
            return Expression.of(self.annotation(gate))
        if kind == SUM:
            return CircuitSum(self, gate)
        if kind == CONDITION:
            return Condition(self.operand(int(store.child[store.offsets[gate]])))
        return Compare(*self._comparison(gate))

    def _comparison(self, gate: int) -> tuple[str, Operand, Operand]:
        """Return the operator and the sides of a comparison."""
        store = self.circuit.gates
        op, value = self.circuit.comparisons[int(store.payload[gate])]
        sides = self.operands(store.child[store.offsets[gate] : store.offsets[gate + 1]])
        return (op, sides[0], value) if len(sides) == 1 else (op, sides[0], normal_value(sides[1]))

    def monomials(self, gates: Array, times: Array) -> list[tuple[Monomial, int]]:
        """Return gates that are tokens, products of tokens or 1, with coefficients, as terms."""
        store = self.circuit.gates
        products = store.kind[gates] == PRODUCT
        edges, offsets = store.edges_of(gates[products])
        ends, powers = store.child[edges], store.label[edges].tolist()
        named = self.named(ends)
        bounds = offsets.tolist()
        factors = list(zip(named, powers, strict=True))
        of_products = iter([tuple(factors[a:b]) for a, b in pairwise(bounds)])
        singles = gates[~products & (gates != ONE)]
        of_tokens = iter([((token, 1),) for token in self.named(singles)])
        terms: list[tuple[Monomial, int]] = []
        for gate, is_product, n in zip(
            gates.tolist(), products.tolist(), times.tolist(), strict=True
        ):
            monomial = next(of_products) if is_product else () if gate == ONE else next(of_tokens)
            terms.append((monomial, n))
        return terms

    # -- formal values -----------------------------------------------------------------------

    def operands(self, gates: Array) -> list[Operand]:
        """Return gates of values as formal values, or as plain values if they are plain."""
        return list(map(self.operand, gates.tolist()))

    def operand(self, gate: int) -> Operand:
        """Return a gate of a value as a formal value, or as a plain value if it is plain."""
        kind = int(self.circuit.gates.kind[gate])
        if kind == TENSOR:
            return self.tensor(gate)
        if kind == PLAIN:
            return self.circuit.operands.plain_values[int(self.circuit.gates.payload[gate])]
        if gate not in self._formal:
            self._formal[gate] = formal_value(self, gate)
        return self._formal[gate]

    def listed(self, column: pa.Array | Array) -> list[Operand]:
        """Return a column of plain values, or of gates of values, as operands."""
        if isinstance(column, pa.Array):
            return cast(list[Operand], column.to_pylist())
        tensors = self.circuit.gates.kind[column] == TENSOR
        pairs = zip(column.tolist(), tensors.tolist(), strict=True)
        return [CircuitTensor(self, gate) if t else self.operand(gate) for gate, t in pairs]

    def rows(self, gate: int) -> CircuitRows:
        """Return a gate of the rows of a window function as `CircuitRows`."""
        return cast(CircuitRows, self.operand(gate))

    def value_of(self, gate: int, copies: Callable[[Token], int]) -> Any:
        """Return the plain value of an operand, from the multiplicities of tokens."""
        below = self.circuit.gates.reachable(np.array([gate]))
        leaves = below[self.circuit.gates.kind[below] == TOKEN]
        there = np.zeros(self.circuit.token_count, dtype=np.int64)
        there[leaves - 2] = integer_array([copies(token) for token in self.named(leaves)])
        world = ArrayValues(COUNTING, there)
        return operand_values(self.circuit, np.array([gate]), world)[0]

    def tensor(self, gate: int) -> Tensor:
        """Return a gate as a tensor."""
        make = self.shown_as.get(gate)
        return CircuitTensor(self, gate) if make is None else make(gate)


class _Terms:
    """The edges of a sum in canonical order, computed lazily."""

    __slots__ = ("_edges", "_gate", "reading", "size")

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self.reading = reading
        self._gate = gate
        self.size = int(reading.circuit.gates.sizes(np.array([gate]))[0])
        self._edges: Array | None = None

    def first(self, limit: int | None, *, monomials: bool) -> tuple[Array, Array]:
        """Return the first gates, in canonical order, and their multiplicities."""
        store = self.reading.circuit.gates
        if self._edges is not None:
            edges = self._edges[:limit]
            return store.child[edges], store.label[edges]
        if monomials:
            edges = first_monomials(store, store.edges_of(np.array([self._gate]))[0], limit)
        else:
            edges = self.reading.order.first_edges(self._gate, limit)
        if limit is None:
            self._edges = edges
        edges = edges[:limit]
        return store.child[edges], store.label[edges]


class _LargeSum(InCircuit):
    """The common part of polynomials and expressions that are large sums in a circuit."""

    __slots__ = ()
    _order: _Terms

    def __init__(self, reading: CircuitReading, gate: int) -> None:
        self._hold(reading, gate)
        object.__setattr__(self, "_order", _Terms(reading, gate))

    @property
    def size(self) -> int:
        return self._order.size

    @property
    def is_zero(self) -> bool:
        return False

    def constant_value(self) -> int | None:
        return None


class CircuitPolynomial(_LargeSum, Polynomial):
    """A polynomial that is a sum of many monomials in a circuit."""

    __slots__ = ("_made", "_order", "gate", "reading")

    @property
    def _terms(self) -> Any:  # type: ignore[override]
        return self._all()

    def _first(self, limit: int | None) -> Any:
        return self.reading.monomials(*self._order.first(limit, monomials=True))

    @property
    def is_one(self) -> bool:
        return False

    def __bool__(self) -> bool:
        return True


class CircuitSum(_LargeSum, Sum):
    """A sum of many expressions in a circuit."""

    __slots__ = ("_made", "_order", "gate", "reading")

    @property
    def summands(self) -> Any:  # type: ignore[override]
        return self._all()

    def _first(self, limit: int | None) -> Any:
        gates, times = self._order.first(limit, monomials=False)
        return list(zip(self.reading.expressions(gates), times.tolist(), strict=True))

    @property
    def is_polynomial(self) -> bool:
        return bool(self.reading.circuit.gates.flags[self.gate] & POLYNOMIAL)
