"""Pipe syntax, ``query |> operator |> operator``: its nodes, and how it is read and written.

sqlglot reads pipe operators as nested queries, which Spark analyses to other plans. Here each stays
an operator: :class:`Piped` is a query and the one operator applied to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, TypeAlias

from sqlglot import Generator, exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import TokenType

from rewriter.dialect.nodes import RelationQuery


class Piped(exp.Expression, exp.Query):
    """``this |> step``.

    ``this`` is a query or :class:`PipeSource`. ``step`` is ``exp.Select`` of a select list alone,
    ``exp.Where``, ``exp.Join``, ``exp.Pivot``, ``exp.TableSample``, a set operation without its
    left side, or one of the steps below.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "with_": False,
        "this": True,
        "step": True,
        "order": False,
        "sort": False,
        "cluster": False,
        "distribute": False,
        "limit": False,
        "offset": False,
    }


class PipeSource(exp.Expression):
    """``FROM ...`` at the head of a pipe: the rows of its relations, all columns in scope."""

    arg_types: ClassVar[dict[str, bool]] = {"from_": True, "laterals": False}


class ExtendStep(exp.Expression):
    """``EXTEND item, ...``: all columns, then these."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class SetStep(exp.Expression):
    """``SET column = value, ...``: other values for columns, one after the other, as aliases."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class DropStep(exp.Expression):
    """``DROP column, ...``."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": True}


class NameStep(exp.Expression):
    """``AS name``: the name that may stand before the columns from here on."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True}


class AggregateStep(exp.Expression):
    """``AGGREGATE item, ... GROUP BY item, ...``: the keys, which may have aliases, then these."""

    arg_types: ClassVar[dict[str, bool]] = {"expressions": False, "keys": False}


class OrderStep(exp.Expression):
    """``ORDER BY``, ``LIMIT``, ``OFFSET`` and their kin."""

    arg_types: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("order", "sort", "cluster", "distribute", "limit", "offset"), False
    )


_ClauseParser: TypeAlias = Callable[["PipeParser"], tuple[str, Any]]

_ORDERING = (
    TokenType.ORDER_BY,
    TokenType.SORT_BY,
    TokenType.CLUSTER_BY,
    TokenType.DISTRIBUTE_BY,
    TokenType.LIMIT,
    TokenType.OFFSET,
)


class PipeParser(SparkParser):
    """A parser that keeps pipe operators; they bind less tightly than set operations."""

    def _parse_select(
        self,
        nested: bool = False,
        table: bool = False,
        parse_subquery_alias: bool = True,
        parse_set_operation: bool = True,
        consume_pipe: bool = True,
    ) -> exp.Expr | None:
        query = self._parse_relation_query()
        if query is not None:
            return self._parse_set_operations(query) if parse_set_operation else query
        return super()._parse_select(
            nested, table, parse_subquery_alias, parse_set_operation, consume_pipe=False
        )

    def _parse_relation_query(self) -> exp.Expr | None:
        """Parse FROM, or the FROM in the place of TABLE, where it is a query by itself."""
        index, word = self._index, self._curr.text.upper()
        from_ = self._parse_from(joins=True)
        if from_ is None:
            return None
        laterals = list(iter(self._parse_lateral, None))
        if self._match_set((TokenType.SELECT, TokenType.INSERT), advance=False):
            self._retreat(index)
            return None
        query = RelationQuery(
            expressions=[exp.Star()], from_=from_, laterals=laterals or None, word=exp.var(word)
        )
        return self._parse_query_modifiers(self.expression(query))

    def _parse_set_operations(self, this: exp.Expr | None) -> exp.Expr | None:
        this = super()._parse_set_operations(this)
        while this and self._match(TokenType.PIPE_GT):
            source = this if isinstance(this, Piped) else _source(this)
            step = self._parse_step()
            if step is None:
                self.raise_error("Expected a pipe operator")
                return this
            this = self.expression(Piped(this=source, step=step))
            if not self._match(TokenType.PIPE_GT, advance=False):
                this = super()._parse_set_operations(self._parse_query_modifiers(this))
        return this

    def _parse_paren(self) -> exp.Expr | None:
        this = super()._parse_paren()
        if isinstance(this, exp.Paren) and isinstance(this.this, Piped):
            return self.expression(exp.Subquery(this=this.this))
        return this

    def _parse_step(self) -> exp.Expr | None:
        if self._match(TokenType.SELECT):
            return self._parse_select_step()
        if self._match_text_seq("EXTEND"):
            return self.expression(ExtendStep(expressions=self._parse_expressions()))
        if self._match_text_seq("SET"):
            return self.expression(SetStep(expressions=self._parse_csv(self._parse_assigned)))
        if self._match_text_seq("DROP"):
            return self.expression(DropStep(expressions=self._parse_csv(self._parse_id_var)))
        if self._match(TokenType.ALIAS):
            return self.expression(NameStep(this=self._parse_id_var()))
        if self._match_text_seq("AGGREGATE"):
            return self._parse_aggregate_step()
        if self._match(TokenType.WHERE, advance=False):
            return self._parse_where()
        if self._match_set((TokenType.PIVOT, TokenType.UNPIVOT), advance=False):
            return self._parse_pivot()
        if self._match(TokenType.TABLE_SAMPLE, advance=False):
            return self._parse_table_sample()
        if self._match_set(_ORDERING, advance=False):
            return self._parse_order_step()
        operation = self.parse_set_operation(exp.Select())
        if operation is not None:
            operation.set("this", None)
            return operation
        return self._parse_join_step()

    def _parse_join_step(self) -> exp.Join | None:
        join = self._parse_join()
        if join is not None and not any(join.args.get(word) for word in ("method", "side", "kind")):
            join.set("kind", "INNER")  # JOIN LATERAL would be written as a comma
        return join

    def _parse_select_step(self) -> exp.Select:
        hint = self._parse_hint()
        self._match(TokenType.ALL)
        distinct = exp.Distinct() if self._match(TokenType.DISTINCT) else None
        items, _ = self._parse_projections()
        select = self.expression(exp.Select(hint=hint, distinct=distinct, expressions=items))
        self._parse_clauses(select, (TokenType.WINDOW,))
        return select

    def _parse_assigned(self) -> exp.Alias:
        name = self._parse_id_var()
        if not self._match(TokenType.EQ):
            self.raise_error("Expected = after a column of SET")
        return self.expression(exp.Alias(this=self._parse_disjunction(), alias=name))

    def _parse_aggregate_step(self) -> AggregateStep:
        bare = self._match(TokenType.GROUP_BY, advance=False)
        items = [] if bare else self._parse_expressions()
        keys = self._parse_expressions() if self._match(TokenType.GROUP_BY) else []
        return self.expression(AggregateStep(expressions=items, keys=keys))

    def _parse_order_step(self) -> OrderStep:
        step = self.expression(OrderStep())
        self._parse_clauses(step, _ORDERING)
        return step

    def _parse_clauses(self, step: exp.Expr, kinds: Collection[TokenType]) -> None:
        while self._match_set(kinds, advance=False):
            parsers: Mapping[TokenType, _ClauseParser] = self.QUERY_MODIFIER_PARSERS
            step.set(*parsers[self._curr.token_type](self))


def _source(query: exp.Expr) -> exp.Expr:
    """Return what a pipe begins with: FROM alone, or a query."""
    if not isinstance(query, RelationQuery) or query.args["word"].name != "FROM":
        return query
    if any(query.args.get(modifier) for modifier in exp.QUERY_MODIFIERS if modifier != "laterals"):
        return query
    return PipeSource(from_=query.args["from_"], laterals=query.args.get("laterals"))


def relation_query_sql(generator: Generator, query: RelationQuery) -> str:
    """Write TABLE, FROM or VALUES, and the clauses after it."""
    relation = query.args["from_"].this
    match query.args["word"].name:
        case "VALUES":
            text = generator.sql(relation)
        case "TABLE":
            text = f"TABLE {generator.sql(relation)}"
        case _:
            text = pipe_source_sql(generator, query)
    clauses = query.copy()
    clauses.set("laterals", None)
    return generator.prepend_ctes(query, generator.query_modifiers(clauses, text))


def piped_sql(generator: Generator, piped: Piped) -> str:
    """Write a query and its operator, and what stands after the last operator."""
    text = f"{generator.sql(piped, 'this')}{generator.seg('|>')} {_step_sql(generator, piped)}"
    return generator.prepend_ctes(piped, generator.query_modifiers(piped, text))


def pipe_source_sql(generator: Generator, source: PipeSource | RelationQuery) -> str:
    """Write FROM alone."""
    laterals = [generator.sql(lateral) for lateral in source.args.get("laterals") or []]
    return "".join([generator.sql(source, "from_"), *laterals]).strip()


def _step_sql(generator: Generator, piped: Piped) -> str:
    step = piped.args["step"]
    match step:
        case ExtendStep():
            text = f"EXTEND {generator.expressions(step, flat=True)}"
        case SetStep():
            written = (
                f"{generator.sql(part, 'alias')} = {generator.sql(part, 'this')}"
                for part in step.expressions
            )
            text = f"SET {', '.join(written)}"
        case DropStep():
            text = f"DROP {generator.expressions(step, flat=True)}"
        case NameStep():
            text = f"AS {generator.sql(step, 'this')}"
        case AggregateStep():
            items = generator.expressions(step, flat=True)
            keys = generator.expressions(step, key="keys", flat=True)
            parts = ("AGGREGATE", items, f"GROUP BY {keys}" if keys else "")
            text = " ".join(part for part in parts if part)
        case OrderStep():
            text = generator.query_modifiers(step)
        case exp.SetOperation():
            text = f"{generator.set_operation(step)} {generator.sql(step, 'expression')}"
        case _:
            text = generator.sql(step)
    return text.strip()
