"""Reading relations that are arguments: ``f(TABLE(t) PARTITION BY k ORDER BY o)``."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from rewriter.dialect.nodes import TableArgument


class TableArgumentParser(SparkParser):
    """A parser of calls whose arguments may be relations, by place or by name."""

    LAMBDAS: ClassVar = {
        **SparkParser.LAMBDAS,
        TokenType.FARROW: lambda self, names: self.expression(
            exp.Kwarg(this=exp.var(names[0].name), expression=self._parse_named_argument())
        ),
    }

    def _parse_lambda(self, alias: bool = False) -> exp.Expr | None:
        return self._parse_table_argument() or super()._parse_lambda(alias)

    def _parse_named_argument(self) -> exp.Expr | None:
        return self._parse_table_argument() or self._parse_disjunction() or self._parse_select()

    def _parse_table_argument(self) -> TableArgument | None:
        if not self._match(TokenType.TABLE):
            return None
        table = self._prev
        if self._match(TokenType.L_PAREN):
            relation = self._parse_select() or self._parse_table_parts()
            self._match_r_paren()
        else:
            relation = self._parse_table_parts()
        single, keys = False, None
        if self._match_text_seq("WITH", "SINGLE", "PARTITION"):
            single = True
        elif self._match_set((TokenType.PARTITION_BY, TokenType.DISTRIBUTE_BY)):
            keys = self._parse_disjunction()
        order = self._match_set((TokenType.ORDER_BY, TokenType.SORT_BY))
        argument = TableArgument(
            this=relation,
            single=single,
            partition_by=keys.expressions if isinstance(keys, exp.Tuple) else [keys] * bool(keys),
            order=self._parse_sort_items() if order else [],
        )
        return self.expression(argument, token=table)

    def _parse_sort_items(self) -> list[exp.Ordered]:
        """Parse sort items in parentheses, or the only one without."""
        index = self._index
        if self._match(TokenType.L_PAREN):
            items = self._parse_csv(self._parse_ordered)
            closed = self._match(TokenType.R_PAREN)
            if closed and self._curr.token_type in (TokenType.R_PAREN, TokenType.COMMA):
                return items
            self._retreat(index)
        return [item for item in [self._parse_ordered()] if item]
