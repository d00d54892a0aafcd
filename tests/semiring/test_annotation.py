"""Annotation types: text, JSON, validation."""

from __future__ import annotations

from decimal import Decimal

import pytest

from semiring import AnnotationError
from semiring.annotation import (
    Alt,
    BlackBox,
    ComparisonOf,
    DeltaOf,
    Literal,
    MonusOf,
    One,
    Ref,
    Scalar,
    SumOf,
    TensorOf,
    Times,
    TokenOf,
)

CARS, REQ = TokenOf("cars", ("string",)), TokenOf("req", ("int", "int"))
GROUP = SumOf(Times((CARS, Ref("b1", ("string",)))), ("v",))

TYPES = {
    "cars": CARS,
    "Ref(b1)": Ref("b1", ("string",)),
    "1": One(),
    "cars · req": Times((CARS, REQ)),
    "δ(Σ(cars · Ref(b1)))": DeltaOf(GROUP),
    "(cars | 1)": Alt((CARS, One())),
    "cars · (1 ⊖ δ(Σ(req)))": Times((CARS, MonusOf(One(), DeltaOf(SumOf(REQ))))),
    "[SUM((cars · Ref(b1)) ⊗ v) > 1.50]": ComparisonOf(
        ">", TensorOf("SUM", GROUP, "v"), Literal(Decimal("1.50"))
    ),
    "[Scalar(b2.c) <=> NULL]": ComparisonOf("<=>", Scalar("b2", "c", ("int",)), Literal(None)),
    "udf(cars, 1)": BlackBox("udf", (CARS, One())),
    "δ(Σ(cars)) · [COUNT(cars ⊗ 1) > 1]": Times(
        (
            DeltaOf(SumOf(CARS)),
            ComparisonOf(">", TensorOf("COUNT", SumOf(CARS), sibling=0), Literal(1)),
        )
    ),
}


@pytest.mark.parametrize("text", TYPES)
def test_text(text):
    """A type is written as its operators."""
    assert str(TYPES[text]) == text


def test_facts():
    """Relations, blocks, data and positivity are read off the type."""
    kind = TYPES["δ(Σ(cars · Ref(b1)))"]
    assert kind.relations == {"cars"}
    assert kind.blocks == {"b1"}
    assert not kind.is_polynomial
    assert TYPES["cars · req"].is_polynomial


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Times(()), "at least 1"),
        (lambda: Times([CARS]), "tuple"),
        (lambda: Times((CARS, Literal(1))), "cannot be a part of Times"),
        (lambda: SumOf("cars"), "cannot be a part of SumOf"),
        (lambda: TokenOf("", ("int",)), "non-empty string"),
        (lambda: TokenOf("r", ["int"]), "tuple of strings"),
        (lambda: TensorOf("MEDIAN", GROUP, "v"), "unknown aggregate"),
        (lambda: TensorOf("SUM", GROUP), "needs a value"),
        (lambda: TensorOf("SUM", GROUP, "w"), "not a value of the members"),
        (lambda: ComparisonOf("~", Literal(1), Literal(1)), "not a comparison operator"),
        (lambda: ComparisonOf("=", CARS, Literal(1)), "cannot be compared"),
        (lambda: Literal(object()), "cannot be a constant"),
        (
            lambda: Times(
                (CARS, ComparisonOf(">", TensorOf("COUNT", SumOf(CARS), sibling=0), Literal(1)))
            ),
            "factor 0 is not the SumOf",
        ),
    ],
)
def test_validation(build, message):
    """A type that is not well formed cannot be built."""
    with pytest.raises(AnnotationError, match=message):
        build()
