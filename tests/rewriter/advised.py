"""The refusals that fixtures hold, each with the query that its advice leads to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rewriter.blocks import Block, TokenSource
from rewriter.lower import lower_query
from tests.rewriter.bind import test_bind_cases as bind_cases
from tests.rewriter.bind.catalog import CATALOG
from tests.rewriter.cases import ADVISED, ERROR, Case, cases
from tests.rewriter.lower import catalog as lower_catalog
from tests.rewriter.lower import test_lower_cases as lower_cases

TOKENS = {
    name: TokenSource(name, (column,), ((column,),))
    for name, column in {
        "cars": "car_id",
        "dealers": "dealer",
        "l": "x",
        "nested": "a",
        "padded": "c",
        "r": "y",
        "t": "a",
    }.items()
}
"""The tuples of the binder's relations; what they are told apart by does not matter here."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal of a query.

    Attributes
    ----------
    folder
        That of the case: the binder's, or the one of lowering.
    case
        The case that holds it.
    """

    folder: Path
    case: Case

    def __str__(self) -> str:
        return f"{self.folder.parent.name}/{self.case.title}"

    @property
    def query(self) -> str:
        """The query that is refused."""
        return self.case.given

    @property
    def advised(self) -> str | None:
        """The query that the advice leads to; None where it leads to no query."""
        return self.case.outcomes.get(ADVISED)

    def blocks(self, query: str) -> Block:
        """Return the root of the blocks of a query over the relations of the case."""
        if self.folder == lower_cases.CASES:
            return lower_catalog.blocks(query)
        return lower_query(bind_cases.bound(query, CATALOG).root, TOKENS, query)


def refused() -> list[Refused]:
    """Return every refusal of a query that a fixture holds, in order."""
    return [
        Refused(folder, case)
        for folder in (bind_cases.CASES, lower_cases.CASES)
        for case in cases(folder).values()
        if ERROR in case.outcomes
    ]
