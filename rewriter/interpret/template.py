"""The text of a scalar with other texts in the place of the columns that it reads."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from rewriter.interpret.compile import Interpreted
from rewriter.scalars.text import scalar, text

_MARK = "\x00"


class Template:
    """A scalar's text, into which the texts of its columns are put.

    Parameters
    ----------
    interpreted
        The scalar. Its columns come in the order of ``interpreted.columns``.
    """

    def __init__(self, interpreted: Interpreted) -> None:
        places = {column: index for index, column in enumerate(interpreted.columns)}

        def marked(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            return exp.Var(this=f"{_MARK}{places[node.table, node.name]}{_MARK}")

        self._columns = len(places)
        self._parts = text(scalar(interpreted.text).transform(marked)).split(_MARK)

    def filled(self, columns: Sequence[str]) -> str:
        """Return the text over texts of the columns."""
        parts = list(self._parts)
        parts[1::2] = [columns[int(part)] for part in parts[1::2]]
        return "".join(parts)

    @property
    def numbered(self) -> str:
        """The text with numbers for names, which is the same whatever its columns are called."""
        return self.filled([f"${number}" for number in range(self._columns)])
