"""Reading Spark SQL: the constructs that sqlglot's Spark parser reads differently.

Among them are calls with a syntax of their own, such as ``TRIM(BOTH x FROM y)``, and relations that
are arguments: ``f(TABLE(t) PARTITION BY k ORDER BY o)``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise
from typing import ClassVar

from sqlglot import exp
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from rewriter.dialect.nodes import (
    SPELLED,
    BoundedCTE,
    DerivedValues,
    InNumbers,
    IsNotNull,
    RelationQuery,
    TableArgument,
    UnsignedRightShift,
    VariantExtract,
)
from rewriter.dialect.pipes import Piped, PipeParser
from rewriter.dialect.typed_literals import LiteralParser

Builder = Callable[[list[exp.Expr]], exp.Expr]

_AGGREGATES = """
    any any_value approx_count_distinct approx_percentile approx_top_k approx_top_k_accumulate
    approx_top_k_combine array_agg avg bit_and bit_or bit_xor bitmap_and_agg bitmap_construct_agg
    bitmap_or_agg bool_and bool_or collect_list collect_set collect_union corr count count_if
    count_min_sketch covar_pop covar_samp every first first_value grouping grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kll_merge_agg_bigint kll_merge_agg_double
    kll_merge_agg_float kll_sketch_agg_bigint kll_sketch_agg_double kll_sketch_agg_float kurtosis
    last last_value listagg max max_by mean measure median min min_by mode percentile
    percentile_approx percentile_cont percentile_disc regr_avgx regr_avgy regr_count
    regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness
    some std stddev stddev_pop stddev_samp string_agg sum theta_intersection_agg theta_sketch_agg
    theta_union_agg try_avg try_sum tuple_intersection_agg_double tuple_intersection_agg_integer
    tuple_sketch_agg_double tuple_sketch_agg_integer tuple_union_agg_double
    tuple_union_agg_integer var_pop var_samp variance vector_avg vector_sum
"""

AGGREGATES = frozenset(_AGGREGATES.split())
"""Names of Spark's built-in aggregate functions (4.3), in lower case."""

_GENERATORS = """
    explode explode_outer inline inline_outer json_tuple posexplode posexplode_outer stack
    variant_explode variant_explode_outer
"""

GENERATORS = frozenset(_GENERATORS.split())
"""Names of the functions that make several rows of one, in lower case."""

_WITH_UNIT = ("date_add", "date_diff", "dateadd", "datediff", "timestampadd", "timestampdiff")


_MANY = 100
"""Lists of so many numbers are kept in one piece."""


def _number(item: exp.Expr) -> str | None:
    """Return the text of a number, which may be negative; None for what is none."""
    literal = item.this if isinstance(item, exp.Neg) else item
    if type(literal) is not exp.Literal or literal.is_string:
        return None
    return f"-{literal.this}" if literal is not item else str(literal.this)


def _aggregate(name: str) -> Builder:
    def build(args: list[exp.Expr]) -> exp.Expr:
        return exp.AnonymousAggFunc(this=name, expressions=args)

    return build


def _unary_aggregate(name: str, node: type[exp.AggFunc]) -> Builder:
    def build(args: list[exp.Expr]) -> exp.Expr:
        return node(this=args[0]) if len(args) == 1 else _aggregate(name)(args)

    return build


def _count(args: list[exp.Expr]) -> exp.Expr:
    return exp.Count(this=args[0], expressions=args[1:]) if args else _aggregate("count")(args)


def _coalesce(args: list[exp.Expr]) -> exp.Expr:
    if not args:
        return exp.Anonymous(this="coalesce", expressions=args)
    return exp.Coalesce(this=args[0], expressions=args[1:])


def _nullif(args: list[exp.Expr]) -> exp.Expr:
    if len(args) != 2:
        return exp.Anonymous(this="nullif", expressions=args)
    return exp.Nullif(this=args[0], expression=args[1])


def _with_unit(name: str) -> Builder:
    """Build a call whose first argument of three is a unit: a word, not a column."""

    def build(args: list[exp.Expr]) -> exp.Expr:
        unit = args[0] if len(args) == 3 else None
        if isinstance(unit, exp.Column) and not unit.table and not unit.this.quoted:
            args = [exp.var(unit.name), *args[1:]]
        return exp.Anonymous(this=name, expressions=args)

    return build


BUILDERS: dict[str, Builder] = {
    **{name.upper(): _aggregate(name) for name in AGGREGATES},
    **{name.upper(): _with_unit(name) for name in _WITH_UNIT},
    "AVG": _unary_aggregate("avg", exp.Avg),
    "COALESCE": _coalesce,
    "COUNT": _count,
    "MAX": _unary_aggregate("max", exp.Max),
    "MIN": _unary_aggregate("min", exp.Min),
    "NULLIF": _nullif,
    "SUM": _unary_aggregate("sum", exp.Sum),
}
"""Parser.FUNCTIONS: the calls that do not become plain ``exp.Anonymous``."""


_JOIN_HINTS = (
    "BROADCAST",
    "BROADCASTJOIN",
    "MAPJOIN",
    "MERGE",
    "MERGEJOIN",
    "SHUFFLEMERGE",
    "SHUFFLE_HASH",
    "SHUFFLE_REPLICATE_NL",
)


class CallParser(SparkParser):
    """Reads calls by the syntax of each function; all others are calls of plain arguments."""

    FUNCTION_PARSERS: ClassVar = {
        **{name: SparkParser.FUNCTION_PARSERS[name] for name in _JOIN_HINTS},
        "CAST": lambda self: self._parse_cast(True),
        "EXTRACT": lambda self: self._parse_extract(),
        "IF": lambda self: self._parse_if_call(),
        "OVERLAY": lambda self: self._parse_overlay_call(),
        "POSITION": lambda self: self._parse_position_call(),
        "SUBSTR": lambda self: self._parse_substring_call("substr"),
        "SUBSTRING": lambda self: self._parse_substring_call("substring"),
        "TRIM": lambda self: self._parse_trim_call(),
        "TRY_CAST": lambda self: self._parse_cast(False, safe=True),
    }

    def _parse_extract(self) -> exp.Extract:
        """Parse ``EXTRACT(field FROM source)``, the field spelled as the user did."""
        self._advance()
        field = exp.var(self._prev.text)
        if not self._match(TokenType.FROM):
            self.raise_error("Expected FROM after the field of EXTRACT")
        return self.expression(exp.Extract(this=field, expression=self._parse_bitwise()))

    def _parse_if_call(self) -> exp.Expr:
        args = self._parse_function_args()
        if len(args) != 3:
            return exp.Anonymous(this="if", expressions=args)
        return self.expression(exp.If(this=args[0], true=args[1], false=args[2]))

    def _parse_overlay_call(self) -> exp.Expr:
        args = self._parse_function_args()
        if len(args) != 1 or not self._match_text_seq("PLACING"):
            return exp.Anonymous(this="overlay", expressions=args)
        placing = self._parse_bitwise()
        start = self._parse_bitwise() if self._match(TokenType.FROM) else None
        length = self._parse_bitwise() if self._match(TokenType.FOR) else None
        return self.expression(
            exp.Overlay(this=args[0], expression=placing, from_=start, for_=length)
        )

    def _parse_position_call(self) -> exp.Expr:
        first = self._parse_bitwise()
        if self._match(TokenType.IN):
            return self.expression(exp.StrPosition(this=self._parse_bitwise(), substr=first))
        rest = self._parse_function_args() if self._match(TokenType.COMMA) else []
        return exp.Anonymous(this="position", expressions=[first, *rest])

    def _parse_substring_call(self, name: str) -> exp.Expr:
        args = self._parse_function_args()
        for keyword in (TokenType.FROM, TokenType.FOR):
            if self._match(keyword) and (argument := self._parse_bitwise()):
                name = "substring"
                args.append(argument)
        return exp.Anonymous(this=name, expressions=args)

    def _parse_trim_call(self) -> exp.Expr:
        position = self._match_texts(("BOTH", "LEADING", "TRAILING")) and self._prev.text.upper()
        what = None if self._match(TokenType.FROM, advance=False) else self._parse_bitwise()
        if self._match(TokenType.FROM):
            return self.expression(
                exp.Trim(this=self._parse_bitwise(), expression=what, position=position or None)
            )
        rest = self._parse_function_args() if self._match(TokenType.COMMA) else []
        return exp.Anonymous(this="trim", expressions=[what, *rest])


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


_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)

_AFTER_COLUMN = {
    TokenType[name] for name in ("ALIAS", "COMMA", "EQ", "FROM", "L_BRACKET", "NEQ", "R_PAREN")
}

_SET_OPERATIONS = (TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT)


class SparkSQLParser(PipeParser, TableArgumentParser, CallParser, LiteralParser):
    """The parser of :class:`rewriter.dialect.SparkSQL`."""

    ADD_JOIN_ON_TRUE = False
    COLON_IS_VARIANT_EXTRACT = True

    SUBQUERY_TOKENS: ClassVar = {*SparkParser.SUBQUERY_TOKENS, TokenType.FROM, TokenType.VALUES}

    RANGE_PARSERS: ClassVar = {
        token: parser
        for token, parser in SparkParser.RANGE_PARSERS.items()
        if token != TokenType.FOR  # comprehensions of other engines
    }

    TERM: ClassVar = {**SparkParser.TERM, TokenType.DPIPE: exp.DPipe}

    FUNCTIONS: ClassVar = {**BUILDERS}

    NO_PAREN_FUNCTIONS: ClassVar = {
        TokenType.CURRENT_DATE: exp.CurrentDate,
        TokenType.CURRENT_TIME: exp.CurrentTime,
        TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
        TokenType.CURRENT_USER: exp.CurrentUser,
        TokenType.SESSION_USER: exp.CurrentUser,
    }

    NO_PAREN_FUNCTION_PARSERS: ClassVar = {"CASE": SparkParser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

    def parse(self, raw_tokens: list[Token], sql: str) -> list[exp.Expr | None]:
        """Parse statements; ``window(`` is a call, a window clause has a name after the word.

        ``VALUES`` and ``FROM`` are names of columns where neither rows nor a relation can follow.
        ``TABLE t`` as a query is read as ``FROM t``, and ``VALUES`` as a query as one over them.
        """
        raw_tokens = _without_table_queries(raw_tokens)
        for token, following in pairwise(raw_tokens):
            if token.token_type == TokenType.WINDOW and following.token_type == TokenType.L_PAREN:
                token.token_type = TokenType.VAR
            is_name = following.token_type in _AFTER_COLUMN
            if is_name and token.token_type in (TokenType.VALUES, TokenType.FROM):
                token.token_type = TokenType.IDENTIFIER
        return [self._with_inline_queries(part) for part in super().parse(raw_tokens, sql)]

    def _with_inline_queries(self, statement: exp.Expr | None) -> exp.Expr | None:
        if statement is None:
            return None
        for values in list(statement.find_all(exp.Values)):
            if values is statement:
                return self._values_to_select(values)
            if isinstance(values.parent, (exp.Exists, exp.Subquery, Piped)):
                values.replace(self._values_to_select(values.copy()))
        return statement

    def _values_to_select(self, values: exp.Values) -> exp.Select:
        """Return the query that an inline table is, with its ORDER BY and LIMIT."""
        clauses = {name: values.args.get(name) for name in exp.QUERY_MODIFIERS}
        rows = exp.Values(expressions=values.expressions, alias=values.args.get("alias"))
        query = RelationQuery(expressions=[exp.Star()], from_=exp.From(this=rows), **clauses)
        query.set("word", exp.var("VALUES"))
        return query

    def _parse_bitwise(self) -> exp.Expr | None:
        """Parse ``|``, ``^``, ``&`` and the shifts, each level binding tighter, as in Spark."""
        this = self._parse_bitwise_xor()
        while self._match(TokenType.PIPE):
            this = self.expression(exp.BitwiseOr(this=this, expression=self._parse_bitwise_xor()))
        return this

    def _parse_bitwise_xor(self) -> exp.Expr | None:
        this = self._parse_bitwise_and()
        while self._match(TokenType.CARET):
            this = self.expression(exp.BitwiseXor(this=this, expression=self._parse_bitwise_and()))
        return this

    def _parse_bitwise_and(self) -> exp.Expr | None:
        this = self._parse_shift()
        while self._match(TokenType.AMP):
            this = self.expression(exp.BitwiseAnd(this=this, expression=self._parse_shift()))
        return this

    def _parse_shift(self) -> exp.Expr | None:
        this = self._parse_term()
        while True:
            node: type[exp.Binary]
            if self._match_pair(TokenType.LT, TokenType.LT):
                node = exp.BitwiseLeftShift
            elif self._match_pair(TokenType.GT, TokenType.GT):
                unsigned = self._match(TokenType.GT)
                node = UnsignedRightShift if unsigned else exp.BitwiseRightShift
            else:
                return this
            this = self.expression(node(this=this, expression=self._parse_term()))

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """Parse ``value[index]``; Spark has no constructors in brackets."""
        while this and self._match(TokenType.L_BRACKET):
            index = self._parse_disjunction()
            if not self._match(TokenType.R_BRACKET):
                self.raise_error("Expected ]")
            this = self.expression(exp.Bracket(this=this, expressions=[index]))
        return this

    def _parse_in(self, this: exp.Expr | None, alias: bool = False) -> exp.In:
        parsed = super()._parse_in(this, alias)
        numbers = tuple(map(_number, parsed.args.get("expressions") or ()))
        if len(numbers) < _MANY or None in numbers:
            return parsed
        return self.expression(InNumbers(this=parsed.this, numbers=numbers))

    def _parse_is(self, this: exp.Expr | None) -> exp.Expr | None:
        parsed = super()._parse_is(this)
        if (
            type(parsed) is exp.Not
            and isinstance(parsed.this, exp.Is)
            and isinstance(parsed.this.expression, exp.Null)
        ):
            return self.expression(IsNotNull(this=parsed.this), comments=parsed.comments)
        return parsed

    def _negate_range(self, this: exp.Expr | None = None) -> exp.Expr | None:
        """Read ``NOT LIKE`` as the negation of LIKE; before ANY and ALL it is not a negation."""
        like = this.this if isinstance(this, exp.Escape) else this
        if isinstance(like, exp.Like | exp.ILike) and not isinstance(
            like.expression, exp.Any | exp.All
        ):
            return self.expression(exp.Not(this=this))
        return super()._negate_range(this)

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        """Parse a join; one by comma is inner, not ``CROSS``."""
        comma = self._match(TokenType.COMMA, advance=False)
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        if comma and join:
            join.set("kind", None)
        return join

    def _parse_subquery(
        self, this: exp.Expr | None, parse_alias: bool = True
    ) -> exp.Subquery | None:
        """Parse what stands after a query in brackets; a sample stands before the alias."""
        sample = self._parse_table_sample()
        subquery = super()._parse_subquery(this, parse_alias)
        if subquery and sample:
            subquery.set("sample", sample)
        return subquery

    def _parse_cte(self) -> exp.CTE | exp.FunctionSpecification | None:
        """Parse a named query, which may say how deep it recurses."""
        index = self._index
        alias = self._parse_table_alias(self.ID_VAR_TOKENS)
        if not alias or not self._match_text_seq("MAX", "RECURSION", "LEVEL"):
            self._retreat(index)
            return super()._parse_cte()
        level = self._parse_number()
        self._match(TokenType.ALIAS)
        query = self._parse_wrapped(self._parse_statement)
        return self.expression(BoundedCTE(this=query, alias=alias, level=level))

    def _parse_value(self, values: bool = True) -> exp.Tuple | None:
        """Parse one row of an inline table; an alias after it is the table's."""
        if self._match(TokenType.L_PAREN):
            row = self._parse_csv(self._parse_disjunction)
            self._match_r_paren()
            return self.expression(exp.Tuple(expressions=row))
        value = self._parse_disjunction()
        return self.expression(exp.Tuple(expressions=[value])) if value else None

    def _parse_derived_table_values(self, allow_value_synonym: bool = False) -> exp.Values | None:
        derived = self._match_pair(TokenType.L_PAREN, TokenType.VALUES, advance=False)
        values = super()._parse_derived_table_values(allow_value_synonym)
        return DerivedValues(**values.args) if derived and values else values

    def _parse_pivot_aggregation(self) -> exp.Expr | None:
        """Parse an aggregate of PIVOT, or an expression over some, with its alias."""
        return self._parse_alias(self._parse_disjunction())

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        """Parse GROUP BY; ALL may also be the name of a column, as the user spelled it."""
        spelled = self._next.text
        group = super()._parse_group(skip_group_by_token)
        if group is not None and group.args.get("all"):
            group.meta[SPELLED] = spelled
        return group

    def _parse_cube_or_rollup(self, with_prefix: bool = False) -> exp.Cube | exp.Rollup | None:
        """Parse CUBE or ROLLUP; among their keys may be conditions."""
        for token, kind in ((TokenType.CUBE, exp.Cube), (TokenType.ROLLUP, exp.Rollup)):
            if self._match(token):
                keys = [] if with_prefix else self._parse_wrapped_csv(self._parse_disjunction)
                return self.expression(kind(expressions=keys))
        return None

    def _parse_grouping_set(self) -> exp.Expr | None:
        return (
            self._parse_grouping_sets() or self._parse_cube_or_rollup() or self._parse_disjunction()
        )

    def _parse_colon_as_variant_extract(self, this: exp.Expr | None) -> exp.Expr | None:
        extracted = False
        while this and self._curr.token_type == TokenType.COLON:
            self._advance()
            start = self._curr
            self._parse_variant_path()
            path = self._find_sql(start, self._prev)
            this = self.expression(VariantExtract(this=this, path=exp.Literal.string(path)))
            extracted = True
        return self._parse_column_ops(this) if extracted else this

    def _parse_variant_path(self) -> None:
        first = True
        while True:
            if self._match(TokenType.L_BRACKET):
                while not self._match(TokenType.R_BRACKET):
                    self._advance()
                    if not self._curr:
                        self.raise_error("Expected ]")
            elif first or self._match(TokenType.DOT):
                self._advance()
            else:
                return
            first = False


def _without_table_queries(tokens: list[Token]) -> list[Token]:
    """Tokens with ``FROM t`` in the place of every query ``TABLE t``, the word as it was."""
    return [
        Token(TokenType.FROM, token.text, token.line, token.col, token.start, token.end)
        if token.token_type == TokenType.TABLE and _begins_query(tokens, number)
        else token
        for number, token in enumerate(tokens)
    ]


def _begins_query(tokens: list[Token], number: int) -> bool:
    """Return True if a TABLE stands where a query may: neither in ``f(TABLE t)`` nor as a name."""
    if number + 1 == len(tokens) or tokens[number + 1].token_type not in _NAMES:
        return False
    before = [token.token_type for token in reversed(tokens[max(number - 2, 0) : number])]
    if not before or before[0] in (*_SET_OPERATIONS, TokenType.R_PAREN):
        return True
    if before[0] in (TokenType.ALL, TokenType.DISTINCT):
        return before[1:] != [] and before[1] in _SET_OPERATIONS
    return before[0] == TokenType.L_PAREN and (before[1:] == [] or before[1] not in _NAMES)
