"""Lineage of columns: the columns that a scalar copies, is computed from, or is chosen by.

A scalar that is a column is a copy of it; CASE, IF and COALESCE are copies of the branch that is
taken, *chosen* by the conditions before it; all other scalars are *computed* from their columns.
The lineage of a query's columns follows from these uses, from outer blocks to inner ones and
relations; the columns that conditions, joins, groups, orders and limits read *decide* the set of
rows.

Sources: Buneman, Khanna, Tan, *Why and Where: A Characterization of Data Provenance*, ICDT 2001;
Geerts, Kementsietsidis, Milano, *MONDRIAN: Annotating and Querying Databases through Colors and
Blocks*, ICDE 2006; OpenLineage's column-level lineage, version 1-2-0, for the kinds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from sqlglot import exp

from rewriter.algebra import Scalar
from rewriter.blocks import (
    GROUP,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Core,
    Generator,
    Kind,
    Match,
    MatchKind,
    ScanSource,
    UnionSource,
    ValuesSource,
    topological,
)
from rewriter.scalars import windows
from rewriter.scalars.aggregates import (
    EXTREMES,
    arguments,
    compared_parts,
    name_of,
    with_arguments,
)

CHOOSING = frozenset(
    {"max", "min", "max_by", "min_by", "first", "last", "any_value", "first_value"}
)
"""Aggregates whose value is that of one row."""
OFFSETS = frozenset({"lag", "lead"})
OF_ONE_ROW = OFFSETS | {"first", "first_value", "any_value", "last", "last_value", "nth_value"}
"""Window functions whose value is that of one row, by its place."""


class ValueRole(Enum):
    """The role of a column in a value."""

    COPIED = "copied"
    COMPUTED = "computed"
    CHOSEN = "chosen by"

    def then(self, outer: ValueRole) -> ValueRole:
        """Return the role of a column in a value, through an intermediate column."""
        order = (ValueRole.COPIED, ValueRole.COMPUTED, ValueRole.CHOSEN)
        return max(self, outer, key=order.index)


Guard: TypeAlias = tuple[Scalar, bool]
"""A condition, and whether it holds; a condition that is NULL does not."""


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """A column that a scalar reads, and the conditions under which it does."""

    alias: str
    name: str
    role: ValueRole
    guards: tuple[Guard, ...] = ()


def uses(scalar: Scalar, guards: tuple[Guard, ...] = ()) -> Iterator[ColumnUse]:
    """Yield the columns that a scalar reads, with their roles and positions."""
    match scalar:
        case exp.Column():
            yield ColumnUse(scalar.table, scalar.name, ValueRole.COPIED, guards)
        case exp.Paren():
            yield from uses(scalar.this, guards)
        case exp.Window():
            yield from window_uses(scalar)
        case exp.Coalesce():
            yield from _branches(
                [
                    (exp.Is(this=each.copy(), expression=exp.null()).not_(), each)
                    for each in (scalar.this, *scalar.expressions)
                ],
                None,
                guards,
            )
        case exp.If():
            yield from _branches(
                [(scalar.this, scalar.args["true"])], scalar.args.get("false"), guards
            )
        case exp.Case():
            branches = [
                (_condition(scalar, each.this), each.args["true"]) for each in scalar.args["ifs"]
            ]
            yield from _branches(branches, scalar.args.get("default"), guards)
        case _:
            for part in scalar.iter_expressions():
                for use in uses(part, guards):
                    yield replace(use, role=use.role.then(ValueRole.COMPUTED))


def _condition(case: exp.Case, when: Scalar) -> Scalar:
    if case.this is None:
        return when
    return exp.EQ(this=case.this.copy(), expression=when.copy())


def _branches(
    branches: Sequence[tuple[Scalar, Scalar]], default: Scalar | None, guards: tuple[Guard, ...]
) -> Iterator[ColumnUse]:
    for condition, value in branches:
        for node in condition.find_all(exp.Column):
            yield ColumnUse(node.table, node.name, ValueRole.CHOSEN, guards)
        yield from uses(value, (*guards, (condition, True)))
        guards = (*guards, (condition, False))
    if default is not None:
        yield from uses(default, guards)


def window_uses(window: exp.Window) -> Iterator[ColumnUse]:
    """Yield the columns that a window function reads from the rows of its frame.

    Its partition and order determine these rows; see :func:`column_lineage`.
    """
    own = windows.called(window).expressions
    name = windows.function_name(window)
    if name in OF_ONE_ROW:
        yield from uses(own[0])
        if windows.ignores_nulls(window):
            yield from _as(ValueRole.CHOSEN, own[0])
        if name in OFFSETS and len(own) > 2:
            yield from uses(own[2])
    else:
        yield from aggregate_uses(windows.aggregate_of(window))


def generated_uses(generator: Generator, name: str) -> Iterator[ColumnUse]:
    """Yield the columns behind a column of generated rows."""
    rows = elements(generator)
    if rows is None:
        yield from _as(ValueRole.COMPUTED, generator.argument)
    elif name in generator.columns:
        place = generator.columns.index(name)
        for row in rows:
            yield from uses(row[place])


def elements(generator: Generator) -> list[list[Scalar]] | None:
    """Return the columns of each generated row if a constructor lists them, else None.

    The argument is a constructor: ``array(a, b)``, ``map(k, v)``, an array of structs for INLINE.
    """
    argument = generator.argument
    name = argument.name.lower() if isinstance(argument, exp.Anonymous) else ""
    if name == "array" and not generator.inline:
        return [[each] for each in argument.expressions]
    if name == "map":
        own = argument.expressions
        return [list(pair) for pair in zip(own[::2], own[1::2], strict=True)]
    if name != "array":
        return None
    rows = []
    for each in argument.expressions:
        struct = each.name.lower() if isinstance(each, exp.Anonymous) else ""
        fields = each.expressions[struct == "named_struct" :: 1 + (struct == "named_struct")]
        if struct not in ("struct", "named_struct"):
            return None
        rows.append([field.unalias() for field in fields])
    return rows


def captured_columns(core: Core) -> dict[tuple[str, str], str]:
    """Return the member columns with the columns that a core reads."""
    columns = ((name, scalar) for name, scalar in core.select)
    return {(s.table, s.name): name for name, s in columns if isinstance(s, exp.Column)}


def is_choosing(call: Scalar) -> bool:
    """Return True if the value of an aggregate is that of one row."""
    return name_of(call) in CHOOSING


def aggregate_uses(call: Scalar) -> Iterator[ColumnUse]:
    """Yield the columns that an aggregate reads from its members; chosen ones for a choosing
    aggregate.
    """
    own = arguments(call)
    if is_choosing(call) and own:
        yield from uses(own[0])
        for each in own[1:]:
            yield from _as(ValueRole.CHOSEN, each)
        others = [n for n in call.find_all(exp.Column) if not _is_within(n, own)]
        for node in others:
            yield ColumnUse(node.table, node.name, ValueRole.CHOSEN)
        return
    for each in own:
        for use in uses(each):
            yield replace(use, role=use.role.then(ValueRole.COMPUTED))
    for node in call.find_all(exp.Column):
        if not _is_within(node, own):
            yield ColumnUse(node.table, node.name, ValueRole.CHOSEN)


def _is_within(node: exp.Expr, scalars: Sequence[Scalar]) -> bool:
    return any(node is each for scalar in scalars for each in scalar.walk())


def deciding_uses(scalar: Scalar) -> Iterator[ColumnUse]:
    """Yield the columns of a scalar that chooses a value."""
    return _as(ValueRole.CHOSEN, scalar)


def _as(role: ValueRole, scalar: Scalar) -> Iterator[ColumnUse]:
    for node in scalar.find_all(exp.Column):
        yield ColumnUse(node.table, node.name, role)


# -- the lineage of columns ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class SourceColumn:
    """A column of a relation, and its part in a column of the answer.

    Parameters
    ----------
    kind
        ``DIRECT`` if the value is derived from it, ``INDIRECT`` if it decides about rows or values.
    subtype
        OpenLineage's: IDENTITY, TRANSFORMATION and AGGREGATION; CONDITIONAL, JOIN, FILTER,
        GROUP_BY, SORT and WINDOW.
    """

    relation: str
    column: str
    kind: str
    subtype: str


_SUBTYPES = {
    ValueRole.COPIED: "IDENTITY",
    ValueRole.COMPUTED: "TRANSFORMATION",
    ValueRole.CHOSEN: "CONDITIONAL",
}


def column_lineage(root: Block, output: str) -> set[SourceColumn]:
    """Return the columns that a column of the answer is a copy of, computed from, or chosen by."""
    found: set[SourceColumn] = set()
    _of_output(root, output, ValueRole.COPIED, False, found)
    return found


def _of_output(
    block: Block, output: str, role: ValueRole, aggregated: bool, found: set[SourceColumn]
) -> None:
    for each in block.outputs:
        if each.name == output:
            _of_uses(block, uses(each.scalar), role, aggregated, found)
            for window in each.scalar.find_all(exp.Window):
                _decided(block, _window_keys(window), "WINDOW", found)
            return
    for name, scalar in block.keys:
        if name == output:
            _of_uses(block, uses(scalar), role, aggregated, found)
            return
    if block.kind is not Kind.GROUP:
        _of_column(block, MEMBER, output, role, aggregated, found)


def _window_keys(window: exp.Window) -> Iterator[Scalar]:
    """Yield the partition and the order of a window, without what only breaks ties."""
    yield from window.args.get("partition_by") or ()
    order = window.args.get("order")
    for key in order.expressions if order else ():
        if not isinstance(key.this, exp.Paren):
            yield key.this


def _of_uses(
    reader: Block | Core,
    read: Iterator[ColumnUse],
    role: ValueRole,
    aggregated: bool,
    found: set[SourceColumn],
) -> None:
    """Add the columns behind the columns that scalars of a block's tail, or of a core, read."""
    for use in read:
        part = use.role.then(role)
        if isinstance(reader, Core):
            _of_core(reader, use.alias, use.name, part, aggregated, found)
        else:
            _of_column(reader, use.alias, use.name, part, aggregated, found)


def _of_column(
    block: Block, alias: str, name: str, role: ValueRole, aggregated: bool, found: set[SourceColumn]
) -> None:
    """Add the columns behind a column that scalars of a block's tail read."""
    if alias == GROUP:
        _of_uses(block, group_uses(block, name), role, is_aggregated(block, name), found)
    elif alias == UNION:
        place = next(n for n, each in enumerate(block.branches[0].outputs) if each.name == name)
        for branch in block.branches:
            _of_output(branch, branch.outputs[place].name, role, aggregated, found)
    elif alias == MEMBER and block.core is not None:
        selected = dict(block.core.select)
        if name in selected:
            _of_uses(block.core, uses(selected[name]), role, aggregated, found)
    elif alias in block.by_alias:
        _of_output(block.by_alias[alias].block, name, role, aggregated, found)
    else:
        for generator in block.generators:
            if alias in generator.aliases:
                _of_uses(block, generated_uses(generator, name), role, aggregated, found)


def group_uses(block: Block, name: str) -> Iterator[ColumnUse]:
    """Yield the member columns that a key or an aggregate of a grouping reads."""
    for key, scalar in block.keys:
        if key == name:
            yield from uses(scalar)
    for key, call in block.aggregates:
        if key == name:
            yield from aggregate_uses(_without_ties(call))


def _without_ties(call: Scalar) -> Scalar:
    """Return an aggregate without the keys by which rows that tie are compared."""
    own = arguments(call)
    if name_of(call) in EXTREMES:
        parts, is_constant = compared_parts(own[1])
        compared = exp.null() if is_constant else parts[0]
        return with_arguments(call, [own[0], compared, *own[2:]])

    def replaced(node: exp.Expr) -> exp.Expr:
        is_tie = isinstance(node, exp.Ordered) and isinstance(node.this, exp.Paren)
        return exp.Ordered(this=exp.null()) if is_tie else node

    result: Scalar = call.transform(replaced)
    return result


def is_aggregated(block: Block, name: str) -> bool:
    """Return True if a column of a grouping is computed from the values of many rows."""
    return any(key == name and not is_choosing(call) for key, call in block.aggregates)


def _of_core(
    core: Core, alias: str, name: str, role: ValueRole, aggregated: bool, found: set[SourceColumn]
) -> None:
    """Add the columns behind a column that scalars of a core read."""
    for source in core.sources:
        if source.alias != alias:
            continue
        match source:
            case ScanSource() if name.startswith("_lipstick_"):
                pass  # by which rows are named, and no column of the relation
            case ScanSource():
                subtype = _SUBTYPES[role]
                if aggregated and role is not ValueRole.CHOSEN:
                    subtype = "AGGREGATION"
                kind = "INDIRECT" if role is ValueRole.CHOSEN else "DIRECT"
                found.add(SourceColumn(source.relation, name, kind, subtype))
            case UnionSource():
                place = [each for each, _ in source.branches[0].select].index(name)
                for branch in source.branches:
                    _of_uses(branch, uses(branch.select[place][1]), role, aggregated, found)
            case ValuesSource():
                _of_uses(source.core, uses(dict(source.core.select)[name]), role, aggregated, found)
            case BlockSource():
                _of_output(source.block, name, role, aggregated, found)
    for generator in core.generators:
        if alias in generator.aliases:
            _of_uses(core, generated_uses(generator, name), role, aggregated, found)


def deciding_columns(root: Block) -> set[SourceColumn]:
    """Return the columns that determine the rows of an answer and their derivations.

    What the query has counts, and not how blocks compute it: the keys by which the other side of an
    outer join or a subquery is grouped for lookups are join columns.
    """
    found: set[SourceColumn] = set()
    blocks = topological(root)
    looked_up = _looked_up_keys(blocks)
    for block in blocks:
        if block.core is not None:
            _of_deciding(block.core, found)
        if block.kind is Kind.GROUP:  # Keys of other rows are their names alone.
            keys = [key for name, key in block.keys if (block.name, name) not in looked_up]
            _decided(block, keys, "GROUP_BY", found)
        _decided(block, (*_deciding(block), *block.having), "FILTER", found)
        if block.limited:
            _decided(block, (key.scalar for key in block.order), "SORT", found)
        _joined(block, block.probes, found)
    return found


def _looked_up_keys(blocks: Sequence[Block]) -> set[tuple[str, str]]:
    """Return the keys, with their blocks, of groupings for lookups that the query does not have."""
    probes = [probe for block in blocks for probe in block.probes]
    probes += [semi for block in blocks if block.core is not None for semi in _semis(block.core)]
    found = set()
    for probe in probes:
        block = probe.block
        of_query = probe.factor
        if probe.kind is not MatchKind.AT_MOST_ONE:
            of_query = bool(block.aggregates or block.having)
        if of_query:
            continue
        keys = {name for name, _ in block.keys}
        behind = {
            each.name: node.name
            for each in block.outputs
            for node in [each.scalar]
            if isinstance(node, exp.Column) and node.table == GROUP
        }
        names = {behind.get(its, its) for _, its in probe.pairs}
        found |= {(block.name, name) for name in names & keys}
    return found


def _semis(core: Core) -> Iterator[Match]:
    yield from core.semis
    for source in core.sources:
        if isinstance(source, UnionSource):
            for branch in source.branches:
                yield from _semis(branch)
        elif isinstance(source, ValuesSource):
            yield from _semis(source.core)


def _decided(
    reader: Block | Core, scalars: Iterable[Scalar], subtype: str, found: set[SourceColumn]
) -> None:
    """Add the columns that scalars of a block's tail, or of a core, read, as deciding ones."""
    columns: set[SourceColumn] = set()
    for scalar in scalars:
        _of_uses(reader, _as(ValueRole.CHOSEN, scalar), ValueRole.CHOSEN, False, columns)
    found |= {SourceColumn(c.relation, c.column, "INDIRECT", subtype) for c in columns}


def _joined(reader: Block | Core, probes: Iterable[Match], found: set[SourceColumn]) -> None:
    """Add the columns by which rows look up other blocks, on both sides."""
    for probe in probes:
        _decided(reader, probe.scalars(), "JOIN", found)
        columns: set[SourceColumn] = set()
        for _, its in probe.pairs:
            _of_output(probe.block, its, ValueRole.CHOSEN, False, columns)
        found |= {SourceColumn(c.relation, c.column, "INDIRECT", "JOIN") for c in columns}


def _deciding(reader: Block | Core) -> Iterator[Scalar]:
    """Yield the scalars that determine the set of rows; elements do not determine a
    constructor's length.
    """
    probes = reader.probes if isinstance(reader, Block) else reader.semis
    others = {id(scalar) for probe in probes for scalar in probe.scalars()}
    others |= {id(each.argument) for each in reader.generators if elements(each) is not None}
    return (each for each in reader.deciding_scalars() if id(each) not in others)


def _of_deciding(core: Core, found: set[SourceColumn]) -> None:
    for scalar in (*_deciding(core), *(key.scalar for key in core.order)):
        aliases = {node.table for node in scalar.find_all(exp.Column)}
        _decided(core, [scalar], "JOIN" if len(aliases) > 1 else "FILTER", found)
    for source in core.sources:
        if isinstance(source, UnionSource):
            for branch in source.branches:
                _of_deciding(branch, found)
        elif isinstance(source, ValuesSource):
            _of_deciding(source.core, found)
            _decided(source.core, (scalar for _, scalar in source.core.select), "GROUP_BY", found)
    _joined(core, core.semis, found)
