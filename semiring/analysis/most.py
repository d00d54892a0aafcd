"""An upper bound on the multiplicity of a tuple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from semiring.expression import Constant, Monus, Product, Sum
from semiring.polynomial import Polynomial

if TYPE_CHECKING:
    from semiring.analysis.events import Annotation


def most(annotation: Annotation) -> int:
    """Return an upper bound on the multiplicity, over all worlds."""
    if isinstance(annotation, Polynomial):
        return sum(n for _, n in annotation.terms)
    if isinstance(annotation, Constant):
        return annotation.n
    if isinstance(annotation, Product):
        product = 1
        for factor, n in annotation.factors:
            product *= most(factor) ** n
        return product
    if isinstance(annotation, Sum):
        return sum(n * most(summand) for summand, n in annotation.summands)
    return most(annotation.left) if isinstance(annotation, Monus) else 1
