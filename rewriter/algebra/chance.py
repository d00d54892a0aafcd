"""Values and rows that chance decides, once for every row."""

from __future__ import annotations

from dataclasses import dataclass

from rewriter.algebra.relation import Unary, require_each
from rewriter.algebra.scalars import Attribute, Scalar
from rewriter.position import Span


@dataclass(frozen=True, slots=True)
class Draw(Unary):
    """The input with one more attribute for each call whose value is no function of its row."""

    output: tuple[Attribute, ...]
    calls: tuple[Scalar, ...]
    span: Span | None = None

    def __post_init__(self) -> None:
        require_each(self, self.output, self.calls, self.input)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.input.attributes + self.output


@dataclass(frozen=True, slots=True)
class Sample(Unary):
    """The rows of the input that a sample has: ``sample`` is ``exp.TableSample`` of a fraction."""

    sample: Scalar
    span: Span | None = None
