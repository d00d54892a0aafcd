"""The vectorised evaluator against the symbolic one."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from semiring import AnnotationError, CapabilityError, Polynomial, Token, ValuationError
from semiring.annotation import (
    Alt,
    BlackBox,
    Compare,
    Delta,
    Literal,
    Monus,
    One,
    Ref,
    Scalar,
    Sum,
    TensorOf,
    Times,
    TokenOf,
)
from semiring.evaluator import evaluate_nested, evaluate_tensor, fold, group, product
from semiring.semirings import (
    ALL,
    AccessControl,
    Boolean,
    Counting,
    Expressions,
    Polynomials,
    Tropical,
    Why,
)
from semiring.valuation import Valuation

CARS = TokenOf("cars", ("string",))
REQ = TokenOf("req", ("int", "int"))
KEY = pa.struct([("a", pa.int32()), ("b", pa.int32())])


def run(semiring, array, kind, specs=None, **options):
    specs = specs or {}
    valuations = {
        name: Valuation.compile(semiring, name, specs.get(name))
        for name in kind.relations | kind.blocks
    }
    return evaluate_nested(semiring, array, kind, valuations, **options)


def texts(array, kind):
    return [str(value) for value in run(Expressions(), array, kind)]


def test_fold_empty_segments():
    """Empty segments give 0 wherever they stand, in every semiring."""
    for semiring in ALL:
        values = semiring.ones(3)
        offsets = np.array([0, 0, 2, 2, 2, 3, 3])
        expected = [semiring.from_int(n) for n in (0, 2, 0, 0, 1, 0)]
        assert semiring.unpack(fold(semiring, values, offsets)) == expected


def test_fold_part():
    """Segments may start after the first value and end before the last."""
    found = fold(Counting(), np.arange(10), np.array([2, 4, 4, 7]))
    assert found.tolist() == [5, 0, 15]


def test_counting_overflow():
    """Counts past int64 become exact Python integers, in sums and products."""
    n = Counting()
    big = n.array([2**62, 2**62, 2**62, 1])
    assert fold(n, big, np.array([0, 3, 3, 4])).tolist() == [3 * 2**62, 0, 1]
    assert product(n, [big, big]).tolist() == [2**124, 2**124, 2**124, 1]
    assert n.plus_array(big, big).tolist() == [2**63, 2**63, 2**63, 2]
    assert fold(n, n.array([2**70, 1]), np.array([0, 2])).tolist() == [2**70 + 1]
    assert fold(n, big, np.array([0, 1, 3, 4])).tolist() == [2**62, 2**63, 1]
    shrunk = n.monus_array(n.array([2**70, 5]), n.array([2**70 - 3, 9]))
    assert shrunk.tolist() == [3, 0]
    assert shrunk.dtype == np.int64
    near = n.array([2**62, 2**62 - 1, 0, 0])
    assert fold(n, near, np.array([0, 4])).dtype == np.int64


def test_group():
    """Grouping is stable, CSR, and free where rows are sorted."""
    order, offsets = group(np.array([2, 0, 2, 0]), 4)
    assert order.tolist() == [1, 3, 0, 2]
    assert offsets.tolist() == [0, 2, 2, 4, 4]
    order, offsets = group(np.array([0, 0, 2]), 3)
    assert order is None
    assert offsets.tolist() == [0, 2, 2, 3]
    assert group(np.array([], dtype=np.int64), 2)[1].tolist() == [0, 0, 0]


def test_masked_lists():
    """Members under a NULL list are not counted even if the buffers hold them."""
    lists = pa.ListArray.from_arrays(
        pa.array([0, 2, 3]), pa.array(["a", "b", "c"]), mask=pa.array([True, False])
    )
    assert run(Counting(), lists, Sum(CARS), {"cars": {"c": 5}}).tolist() == [0, 5]


def test_join():
    """A join multiplies; a NULL factor is absent; a factor without data has no field."""
    kind = Times((CARS, One(), REQ))
    array = pa.array(
        [("A", (1, 2)), ("B", None), (None, (3, None))],
        pa.struct([("x", pa.string()), ("y", KEY)]),
    )
    assert texts(array, kind) == ["cars:A·req:1|2", "cars:B", "req:3|NULL"]
    specs = {"cars": {"A": 2, "B": 3}, "req": {(1, 2): 5}}
    assert run(Counting(), array, kind, specs).tolist() == [10, 3, 1]
    assert run(Counting(), array.slice(1), kind, specs).tolist() == [3, 1]


def test_padded_struct():
    """A struct key of NULLs alone is an absent factor of a relation."""
    array = pa.array([(None, None), (None, 1)], KEY)
    assert texts(array, REQ) == ["1", "req:NULL|1"]


def test_ref_null_key():
    """NULL fields of a Ref that is there are a key; a NULL struct is an absent factor."""
    kind = Ref("b1", ("string",))
    array = pa.array([{"k": None}, None, {"k": "x"}], pa.struct([("k", pa.string())]))
    assert texts(array, kind) == ["b1:NULL", "1", "b1:x"]
    spec = {"b1": {(None,): 7, ("x",): 2}}
    assert run(Counting(), array, kind, spec).tolist() == [7, 1, 2]


def nested():
    inner = pa.struct([("car", pa.string()), ("reqs", pa.list_(KEY))])
    return pa.array(
        [
            [("A", [(1, 1), (1, 2)]), ("B", [])],
            None,
            [],
            [("A", None), ("C", [(2, 2)])],
        ],
        pa.list_(inner),
    )


NESTED = Delta(Sum(Times((CARS, Sum(REQ)))))


def test_nested():
    """Lists within structs within lists."""
    assert texts(nested(), NESTED.operand) == [
        "cars:A·req:1|1 + cars:A·req:1|2",
        "0",
        "0",
        "cars:C·req:2|2",
    ]
    specs = {"cars": {"A": 2, "C": 3}, "req": {(1, 2): 5}}
    assert run(Counting(), nested(), NESTED.operand, specs).tolist() == [12, 0, 0, 3]
    assert run(Counting(), nested(), NESTED, specs).tolist() == [1, 0, 0, 1]
    assert run(Counting(), nested().slice(2), NESTED, specs).tolist() == [0, 1]
    chunked = pa.chunked_array([nested().slice(0, 1), nested().slice(3)])
    assert run(Counting(), chunked, NESTED, specs).tolist() == [1, 1]


@pytest.mark.parametrize("semiring", [*ALL[:-1]], ids=lambda semiring: semiring.name)
def test_nested_in_every_semiring(semiring):
    """The vectorised evaluation equals that of the symbolic annotation."""
    symbolic = run(Expressions(), nested(), NESTED)
    expected = [annotation.evaluate(semiring) for annotation in symbolic]
    assert semiring.unpack(run(semiring, nested(), NESTED)) == expected


def test_sum_of_ones():
    """Members without data are counted."""
    counts = pa.array([2, 0, None])
    assert run(Counting(), counts, Sum(One())).tolist() == [2, 0, 0]
    assert run(Boolean(), counts, Sum(Times((One(), One())))).tolist() == [True, False, False]
    assert run(Counting(), None, Times((One(), One())), length=2).tolist() == [1, 1]


def test_default_counts_members():
    """At all ones a Sum is the number of its members, wherever its factors are absent."""
    array = pa.array([["a", None], [], None])
    assert run(Counting(), array, Sum(CARS)).tolist() == [2, 0, 0]
    assert run(Boolean(), array, Sum(CARS)).tolist() == [True, False, False]


def test_alt():
    """UNION ALL evaluates each row by its branch."""
    kind = Alt((CARS, One(), Sum(REQ)))
    array = pa.array(
        [(0, "A", None), (1, None, None), (2, None, [(1, 2), (3, 4)]), (None, None, None)],
        pa.struct([("branch", pa.int8()), ("x", pa.string()), ("y", pa.list_(KEY))]),
    )
    assert texts(array, kind) == ["cars:A", "1", "req:1|2 + req:3|4", "1"]
    specs = {"cars": {"A": 2**70}, "req": {(1, 2): 4}}
    assert run(Counting(), array, kind, specs).tolist() == [2**70, 1, 5, 1]
    wrong = pa.array([(3, None, None)], array.type)
    with pytest.raises(AnnotationError, match="a branch outside"):
        run(Counting(), wrong, kind)


def test_monus():
    """An anti join: t · (1 ⊖ δ(Σ))."""
    kind = Times((CARS, Monus(One(), Delta(Sum(REQ)))))
    monus_type = pa.struct([("right", pa.list_(KEY))])
    array = pa.array(
        [("A", ([(1, 1)],)), ("B", ([],))],
        pa.struct([("x", pa.string()), ("m", monus_type)]),
    )
    assert texts(array, kind) == ["cars:A·(1 ⊖ δ(req:1|1))", "cars:B"]
    assert run(Counting(), array, kind).tolist() == [0, 1]
    assert run(Counting(), array, kind, {"req": {(1, 1): 0}}).tolist() == [1, 1]
    pair = pa.struct([("x", pa.string()), ("y", pa.string())])
    with pytest.raises(CapabilityError, match="no monus"):
        run(Polynomials(), pa.array([("A", "B")], pair), Monus(CARS, CARS))


def test_black_box():
    """A black box needs all of its inputs."""
    array = pa.array([("A", "B")], pa.struct([("x", pa.string()), ("y", pa.string())]))
    kind = BlackBox("udf", (CARS, CARS))
    assert texts(array, kind) == ["cars:A·cars:B"]
    assert run(Boolean(), array, kind, {"cars": {"B": False}}).tolist() == [False]


MEMBERS = pa.list_(pa.struct([("t", pa.string()), ("v", pa.int32()), ("d", pa.decimal128(6, 2))]))
GROUP = Sum(CARS, ("v", "d"))


def members():
    return pa.array(
        [
            [("A", 10, Decimal("1.00")), ("B", 20, Decimal("0.01")), ("C", None, None)],
            [],
            [("C", None, Decimal("5.00")), ("B", 20, None)],
        ],
        MEMBERS,
    )


def tensor(name, value, spec=None, semiring=None, **options):
    semiring = semiring or Counting()
    valuations = {"cars": Valuation.compile(semiring, "cars", spec)}
    kind = TensorOf(name, GROUP, value, **options)
    return evaluate_tensor(semiring, members(), kind, valuations).to_pylist()


def test_tensors():
    """Aggregates of the members that are left, in Spark's types."""
    gone = {"A": 0}
    assert tensor("COUNT", None) == [3, 0, 2]
    assert tensor("COUNT", None, gone) == [2, 0, 2]
    assert tensor("COUNT", "v", gone) == [1, 0, 1]
    assert tensor("SUM", "v") == [30, None, 20]
    assert tensor("SUM", "v", gone) == [20, None, 20]
    assert tensor("SUM", "v", {"A": 0, "B": 0}) == [None, None, None]
    assert tensor("SUM", "v", {"B": 3}) == [70, None, 60]
    assert tensor("MIN", "v", gone) == [20, None, 20]
    assert tensor("MAX", "d", gone) == [Decimal("0.01"), None, Decimal("5.00")]
    assert tensor("AVG", "v") == [15.0, None, 20.0]
    assert tensor("SUM", "d") == [Decimal("1.01"), None, Decimal("5.00")]
    assert tensor("AVG", "d") == [Decimal("0.505"), None, Decimal("5")]


def test_tensor_in_idempotent_semiring():
    """MIN and MAX elsewhere, by presence; SUM nowhere but in N."""
    assert tensor("MAX", "v", {"B": False}, Boolean()) == [10, None, None]
    assert tensor("MAX", "v", {"B": "NEVER"}, AccessControl()) == [10, None, None]
    with pytest.raises(CapabilityError):
        tensor("SUM", "v", None, Boolean())


def test_distinct():
    """agg(DISTINCT x) counts a value once while any of its members is left."""
    array = pa.array(
        [[("A", 1), ("B", 1), ("C", 2), ("D", None)], []],
        pa.list_(pa.struct([("t", pa.string()), ("v", pa.int64())])),
    )
    group_type = Sum(CARS, ("v",))

    def value(name, spec):
        valuations = {"cars": Valuation.compile(Counting(), "cars", spec)}
        kind = TensorOf(name, group_type, "v", distinct=True)
        return evaluate_tensor(Counting(), array, kind, valuations).to_pylist()

    assert value("COUNT", None) == [2, 0]
    assert value("SUM", {"A": 0}) == [3, None]
    assert value("SUM", {"A": 0, "B": 0}) == [2, None]


def test_having_shares_the_list():
    """δ(Σ)·[COUNT > 1] reads the members once, from the sibling factor."""
    kind = Times((Delta(GROUP), Compare(">", TensorOf("SUM", GROUP, "v", sibling=0), Literal(15))))
    array = pa.StructArray.from_arrays([members()], ["g"])
    assert run(Counting(), array, kind).tolist() == [1, 0, 1]
    assert run(Counting(), array, kind, {"cars": {"B": 0}}).tolist() == [0, 0, 0]
    assert texts(array, kind)[0] == (
        "δ(cars:A + cars:B + cars:C)·[SUM(cars:A⊗10 + cars:B⊗20) > 15]"
    )
    assert texts(array, kind)[1] == "0"


def test_compare_decimals():
    """A decimal aggregate is compared exactly with any exact constant."""
    for op, bound, expected in (
        (">", Decimal("1.005"), [1, 0, 1]),
        ("=", Decimal("1.010"), [1, 0, 0]),
        ("<>", Decimal("1.0101"), [1, 0, 1]),
        ("<=", 1, [0, 0, 0]),
        ("<=>", None, [0, 1, 0]),
    ):
        kind = Compare(op, TensorOf("SUM", GROUP, "d"), Literal(bound))
        array = pa.StructArray.from_arrays([members()], ["g"])
        assert run(Counting(), array, kind).tolist() == expected, op


def test_scalar():
    """A scalar subquery's value is looked up by key; NULL compares as NULL, COUNT as 0."""
    kind = Compare("<", Scalar("b", "c", ("int",), 0), Literal(1))
    array = pa.array([(1,), (2,)], pa.struct([("k", pa.int32())]))

    def lookup(keys, size):
        assert keys[0].to_pylist() == [1, 2]
        return pa.array([5, None], pa.int64())

    assert run(Counting(), array, kind, scalars={"b.c": lookup}).tolist() == [0, 1]
    with pytest.raises(ValuationError, match=r"subquery b\.c"):
        run(Counting(), array, kind)


def test_errors():
    """Data that are not of the type, and relations without valuation, are named."""
    with pytest.raises(AnnotationError, match="expected a struct of 2 fields"):
        run(Counting(), pa.array(["x"]), Times((CARS, REQ)))
    with pytest.raises(AnnotationError, match="expected a list"):
        run(Why(), pa.array(["x"]), Sum(CARS))
    with pytest.raises(AnnotationError, match="no data"):
        run(Counting(), None, CARS, length=3)
    with pytest.raises(ValuationError, match="no valuation is given for cars"):
        evaluate_nested(Counting(), pa.array(["x"]), CARS, {})


def test_tropical_costs():
    """The cheapest member of a group, infinity for an empty one."""
    array = pa.array([["A", "B"], []])
    found = run(Tropical(), array, Sum(CARS), {"cars": {"A": 3, "B": 2}})
    assert found.tolist() == [2.0, float("inf")]


def test_polynomials():
    """How-provenance row by row."""
    array = pa.array([["A", "A", "B"]])
    (found,) = run(Polynomials(), array, Sum(CARS))
    a, b = (Polynomial.token(Token("cars", name)) for name in "AB")
    assert found == 2 * a + b
