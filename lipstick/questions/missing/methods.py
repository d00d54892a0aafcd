"""Questions about rows that are not in an answer, as methods of annotated frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from lipstick.questions.asking import question
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.missing.answer import MissingRow
    from lipstick.questions.missing.losses import DroppedRows


@checked
class MissingRowQuestions:
    """Questions about rows that an annotated frame does not have."""

    @question("following rows through the query", captured=False)
    def why_not(
        self,
        where: Mapping[str, Any] | None = None,
        *,
        condition: str | None = None,
        examples: int = 3,
        budget: float | None = None,
        **columns: Any,
    ) -> MissingRow:
        """Explain why no row of the answer has these values.

        The pattern is followed down to the relations: their rows that satisfy it are the rows that
        the missing one would have come from. One query follows them up again, with the conditions
        of all operators as columns in place of filters.

        Parameters
        ----------
        where, columns
            Values by column of the answer: ``why_not(order_id=7)``. None: the column is NULL.
        condition
            A condition on the answer's columns, as Spark SQL: ``"total > 100"``.
        examples
            The number of rows that are shown of each reason.
        budget
            Seconds for the question; None: as many as it takes.

        Returns
        -------
        MissingRow
            For each relation, the first operator that leaves nothing of these rows (none of their
            successors can still match the pattern), the condition that fails and its values; for
            joins why the partners are not there, or which come nearest.

        Raises
        ------
        QueryError
            For columns that the answer does not have, and conditions that cannot be read.
        ExactnessError
            When the budget is spent.
        UnsupportedError
            For queries with samples, random values, recursion or streams.
        SourceChangedError
            When a source is not what it was when it was tracked.

        References
        ----------
        A. Chapman, H. V. Jagadish: Why not? SIGMOD 2009. N. Bidoit, M. Herschel, K. Tzompanaki:
        Query-based why-not provenance with NedExplain. EDBT 2014. R. Diestelkämper, S. Lee,
        M. Herschel, B. Glavic: To not miss the forest for the trees. SIGMOD 2021 (Breadcrumb).
        """
        from lipstick.questions.missing.pipeline import why_not

        frame = cast("AnnotatedFrame", self)
        return why_not(frame, {**(where or {}), **columns}, condition, examples)

    @question("counting the rows that operators lose", captured=False)
    def dropped(self, *, budget: float | None = None) -> DroppedRows:
        """Return how many rows each operator of the query loses.

        Parameters
        ----------
        budget
            Seconds for the question; None: as many as it takes.

        Conditions of WHERE and of inner joins are counted where they first can decide: those of
        one relation on its rows, others at the join that needs them. One statement counts them all.

        Raises
        ------
        ExactnessError
            When the budget is spent.
        UnsupportedError
            For queries with samples, random values, recursion or streams.
        SourceChangedError
            When a source is not what it was when it was tracked.
        """
        from lipstick.questions.missing.pipeline import dropped_rows

        return dropped_rows(cast("AnnotatedFrame", self))
