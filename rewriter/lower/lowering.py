"""From operators to blocks: one method per operator of the algebra.

Select, project, join and union merge into one core; a grouping, a LIMIT below something else, or a
union of groupings closes a block, whose tuples the core above refers to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    BagDifference,
    Constant,
    CorrelatedScalar,
    Draw,
    ExistenceJoin,
    Filter,
    Generate,
    InnerJoin,
    Level,
    Limit,
    LocalSort,
    OneRow,
    OuterJoin,
    OuterValues,
    Project,
    Relation,
    Sample,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Sort,
    SortKey,
    UnionAll,
    Windows,
    bracketed,
    conjuncts,
    is_known,
    reference_counts,
    walk,
)
from rewriter.analysis.may_throw import may_raise
from rewriter.blocks import (
    EXPANDED,
    GROUP,
    SET_NUMBER,
    Block,
    ConstantSource,
    Generator,
    Kind,
    ScanSource,
    TokenSource,
    qualified,
)
from rewriter.lower.aggregates import follows_order
from rewriter.lower.certainty import is_stable
from rewriter.lower.collected import Collected, collected_by
from rewriter.lower.nondeterminism import Chance
from rewriter.lower.observed import observed
from rewriter.lower.scope import OpenCore, OpenPost, Post, TokenLeaves, cross
from rewriter.lower.state import Open
from rewriter.lower.subqueries import SubqueryValues
from rewriter.lower.unions import is_plain, union_of_cores
from rewriter.lower.windows import lists_by_range, placed_by
from rewriter.passes import Observer, log, rewritten
from rewriter.scalars.aggregates import ARRAYS, collects_in_order, in_order, is_distinct, name_of
from rewriter.scalars.columns import rewrite_columns
from rewriter.scalars.comparable import Conversions


def lower(
    root: Relation,
    tokens: Mapping[str, TokenSource],
    sql: str = "",
    converted: Conversions = MappingProxyType({}),
    observe: Observer = log,
) -> Block:
    """Cut a query into blocks and return the one that yields its answer.

    Parameters
    ----------
    root
        The query; its attributes become the outputs of the block, in order.
    tokens
        How each tracked relation is read and which columns hold its token.
    sql
        The user's text, for the excerpts of errors.
    converted
        The types that both sides of equalities of outer, semi and anti joins are converted to.
    observe
        Told of each pass that changed something.

    Raises
    ------
    UnsupportedError
        Where an operator has no rule for what it is applied to.
    """
    root = rewritten(root, observe)
    views = {tokens[scan.relation].view for scan in walk(root) if isinstance(scan, Scan)}
    lowering = _Lowering(tokens, sql, reference_counts(root), views, converted, observe)
    for operator in walk(root):
        if isinstance(operator, OuterValues):
            lowering.share(operator.input)
    return lowering.root(root)


class _Lowering(Chance, SubqueryValues):
    def root(self, relation: Relation) -> Block:
        self._observed = observed(relation)
        return self._close(self._lower(relation), relation.attributes, f"{self._prefix}0")

    # -- operators -------------------------------------------------------------------------

    def _operator(self, relation: Relation) -> Open:
        match relation:
            case Scan():
                return self._scan(relation)
            case OneRow() | Constant():
                return self._constant(relation)
            case Filter():
                return self._filter(relation)
            case Project():
                return self._project(relation)
            case InnerJoin():
                return self._inner_join(relation)
            case SemiJoin() | AntiJoin():
                return self._semi_join(relation)
            case OuterJoin():
                return self._outer_join(relation)
            case ScalarSubquery() | CorrelatedScalar() | ExistenceJoin() | OuterValues():
                return self._subquery(relation)
            case Generate():
                return self._generate(relation)
            case Aggregate():
                return self._aggregate(relation)
            case UnionAll() | BagDifference():
                return self._set_operation(relation)
            case Windows() | Draw() | Sample() | Level():
                return self._beside_rows(relation)
            case Sort() | LocalSort() | Limit():
                return self._ordered(relation)
        raise TypeError(f"no rule for {type(relation).__name__}")

    def _beside_rows(self, relation: Windows | Draw | Sample | Level) -> OpenCore:
        match relation:
            case Windows():
                return self._windows(relation)
            case Level():
                return self._derived(relation.input, relation.span)
            case Draw() | Sample():
                return self._chance(relation)

    def _scan(self, scan: Scan) -> OpenCore:
        source = self._tokens[scan.relation]
        alias = self._alias(scan.relation.rsplit(".", 1)[-1])
        env: dict[str, Scalar] = {
            attribute.id: qualified(alias, column)
            for attribute, column in zip(scan.output, scan.columns, strict=True)
        }
        leaves = tuple(qualified(alias, column) for column in source.columns)
        return OpenCore(
            env=env,
            sources=(ScanSource(alias, scan.relation, source.view),),
            tokens=(TokenLeaves(scan.relation, alias, leaves),) if leaves else (),
            stable={alias: None},
            untokened=not leaves,
        )

    def _constant(self, relation: OneRow | Constant) -> OpenCore:
        if isinstance(relation, OneRow):
            return OpenCore(env={})
        alias = self._alias("values_" if isinstance(relation.table, exp.Values) else "range_")
        columns = tuple(attribute.id for attribute in relation.output)
        source = ConstantSource(alias, relation.table, columns, relation.position.id)
        env = {column: qualified(alias, column) for column in columns}
        return OpenCore(
            env=env,
            sources=(source,),
            positions=(qualified(alias, relation.position.id),),
            stable={alias: None},
        )

    def _filter(self, relation: Filter) -> Open:
        open_ = self._unlimited(relation.input, windowed=False)
        predicates = tuple(conjuncts(open_.resolve(relation.predicate)))
        if isinstance(open_, OpenCore):
            return replace(open_, predicates=open_.predicates + predicates)
        keys = dict(open_.keys)
        having = list(open_.having)
        core = open_.core
        for predicate in predicates:
            if core is not None and not open_.sets and keys and _on_keys(predicate, keys):
                below = _below(predicate, keys)
                core = replace(core, predicates=(*core.predicates, below))
            else:
                having.append(predicate)
        return replace(open_, core=core, having=tuple(having))

    def _project(self, relation: Project) -> Open:
        open_ = self._lower(relation.input)
        if open_.post.limited and any(may_raise(s, overflows=False) for s in relation.scalars):
            open_ = self._within_limit(relation.input, open_)
        env = {
            attribute.id: open_.resolve(scalar)
            for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
        }
        return replace(open_, env=env)

    def _within_limit(self, relation: Relation, open_: Open) -> Open:
        """Return the rows that LIMIT has kept, if they can be told apart: others are not read."""
        if isinstance(open_, OpenCore) and (open_.untokened or open_.copies):
            return open_
        self._peeked[id(relation)] = open_
        return self._derived(relation)

    def _inner_join(self, relation: InnerJoin) -> OpenCore:
        left, right = self._core(relation.left), self._core(relation.right)
        joined = cross(left, right)
        predicates = tuple(
            p for c in conjuncts(relation.condition) for p in conjuncts(joined.resolve(c))
        )
        return replace(joined, predicates=joined.predicates + predicates)

    def _generate(self, relation: Generate) -> OpenCore:
        collected = collected_by(relation)
        if collected is not None:
            return self._unnest(relation, collected)
        core = self._core(relation.input)
        alias = self._alias("generated")
        argument = core.resolve(relation.argument)
        if relation.function and not relation.placed:
            self._check_function(argument, core, relation)
        generator = Generator(
            alias,
            argument,
            None if relation.position is None else relation.position.id,
            tuple(attribute.id for attribute in relation.output),
            relation.outer,
            relation.inline,
            relation.function,
            relation.placed,
        )
        stable = dict(core.stable)
        if is_stable(argument, core):
            stable |= dict.fromkeys(generator.aliases)
        made: dict[str, Scalar] = {a.id: qualified(alias, a.id) for a in relation.output}
        if generator.place is not None:
            made[generator.place.name] = generator.place
        return replace(
            core,
            env={**core.env, **made},
            generators=(*core.generators, generator),
            stable=stable,
            post=replace(core.post, opaque=relation.placed),
        )

    def _check_function(self, call: Scalar, core: OpenCore, relation: Generate) -> None:
        """Refuse a table function of what is not stored, or is made in the same SELECT.

        It is called when members are captured, once, before what LATERAL VIEW makes.
        """
        made = {alias for generator in core.generators for alias in generator.aliases}
        if not is_stable(call, core):
            problem = "a table function of aggregated values is not supported"
        elif any(column.table in made for column in call.find_all(exp.Column)):
            problem = "a table function of generated columns is not supported"
        else:
            return
        advice = "Store its arguments in a relation and track it."
        self._refuse(problem, advice, relation.span)

    def _unnest(self, relation: Generate, collected: Collected) -> OpenCore:
        """Return what is collected and taken apart again: groups joined with their members.

        Every element keeps the annotation of the tuple that it was collected from.
        """
        below = collected.below
        self.share(below)
        groups = self._core(relation.input)
        (source,) = groups.sources
        if collected.distinct:
            attribute = relation.output[0]
            below = Aggregate(
                below,
                (*(Attribute(f"{a.id}__key", a.name) for a in collected.keys), attribute),
                (*collected.scalars, collected.value),
                (),
                (),
            )
            self._made.append(below)
        members = self._core(below)
        if collected.distinct:
            keys = [members.env[attribute.id] for attribute in below.attributes]
            *scalars, value = keys
        else:
            scalars = [members.resolve(scalar) for scalar in collected.scalars]
            value = members.resolve(collected.value)
        joined = cross(groups, members)
        conditions: list[Scalar] = [
            exp.NullSafeEQ(this=qualified(source.alias, attribute.id), expression=bracketed(scalar))
            for attribute, scalar in zip(collected.keys, scalars, strict=True)
        ]
        conditions.append(is_known(value))
        if collected.condition is not None:
            conditions += conjuncts(members.resolve(collected.condition))
        fields = collected.fields(value) if relation.inline else (value,)
        return replace(
            joined,
            env={**groups.env, **dict(zip((a.id for a in relation.output), fields, strict=True))},
            predicates=(*joined.predicates, *conditions),
        )

    def _aggregate(self, relation: Aggregate) -> OpenPost:
        if _is_sorted(relation.input) and any(map(follows_order, relation.aggregates)):
            advice = "Write the order in the aggregate: min_by(x, t), or LISTAGG WITHIN GROUP."
            problem = "an aggregate that follows the order of a derived table is not supported"
            self._refuse(problem, advice, relation.span)
        order = self._order(relation.input)
        core = self._core(relation.input)
        if not relation.aggregates:
            # A group is there, or not, however often its rows are.
            core = replace(core, copies=())
        if core.copies and core.untokened:
            self._refuse(
                "a grouping of EXCEPT ALL or INTERSECT ALL with a relation without provenance",
                "Track the relation with a key, so that its tuples can be told apart.",
                relation.span,
            )
        keys = tuple(
            (attribute.id, core.resolve(key))
            for attribute, key in zip(relation.key_output, relation.keys, strict=True)
        )
        aggregates = tuple(
            (attribute.id, self._in_order(attribute, core.resolve(call), order))
            for attribute, call in zip(relation.aggregate_output, relation.aggregates, strict=True)
        )
        env = {attribute.id: qualified(GROUP, attribute.id) for attribute in relation.attributes}
        if relation.sets is None:
            return OpenPost(Kind.GROUP, env, core, keys, aggregates)
        number = relation.sets.number.id
        sets = tuple(
            frozenset({number, *(keys[place][0] for place in places)})
            for places in relation.sets.sets
        )
        keys = ((number, qualified(EXPANDED, SET_NUMBER)), *keys)
        return OpenPost(Kind.GROUP, env, core, keys, aggregates, sets)

    def _order(self, relation: Relation) -> tuple[SortKey, ...]:
        """Return what the rows of a derived table are sorted by, if nothing cuts them."""
        if not _is_sorted(relation):
            return ()
        open_ = self._peeked.pop(id(relation), None) or self._lower(relation)
        self._peeked[id(relation)] = open_
        return () if isinstance(open_, OpenPost) or open_.post.final else open_.post.order

    def _in_order(self, attribute: Attribute, call: Scalar, order: Sequence[SortKey]) -> Scalar:
        """Return the call of an aggregate; of one that collects, in an order if that matters."""
        if name_of(call) not in ARRAYS or collects_in_order(call):
            return call
        if not order and attribute.id not in self._observed:
            return call
        return in_order(call, () if is_distinct(call) else order)

    def _set_operation(self, relation: UnionAll | BagDifference) -> Open:
        if isinstance(relation, BagDifference):
            return self._bag_difference(relation)
        return self._union_all(relation)

    def _windows(self, relation: Windows) -> OpenCore:
        below, calls = relation.input, relation.calls
        if lists_by_range(relation):
            advice = "Count the frame in rows: ROWS BETWEEN ... AND ..."
            self._refuse("LISTAGG over a RANGE frame is not supported", advice, relation.span)
        placed = placed_by(relation, self._fresh_id)
        if placed is not None:
            self._made.append(placed.positions)
            below, calls = placed.positions, placed.calls
        core = self._core(below)
        if core.copies:
            self._refuse_copies("a window", relation.span)
        env = dict(core.env)
        for attribute, call in zip(relation.output, calls, strict=True):
            env[attribute.id] = core.resolve(call)
        return replace(core, env=env, post=Post(windowed=True))

    def _union_all(self, relation: UnionAll) -> Open:
        branches = [self._lower(branch) for branch in relation.branches]
        if any(isinstance(branch, OpenCore) and branch.copies for branch in branches):
            return self._union_of_copies(relation, branches)
        cores = [branch for branch in branches if isinstance(branch, OpenCore) and is_plain(branch)]
        if len(cores) == len(branches):
            return union_of_cores(relation, cores, self._alias("union_"))
        for branch, open_ in zip(relation.branches, branches, strict=True):
            if id(branch) not in self._closed:
                self._peeked[id(branch)] = open_
        blocks = tuple(self._block(branch) for branch in relation.branches)
        return self._union_of_blocks(relation.output, blocks, relation.span)

    def _ordered(self, relation: Sort | LocalSort | Limit) -> Open:
        match relation:
            case Sort():
                return self._sort(relation)
            case Limit():
                return self._limit(relation)
            case LocalSort():
                return self._lower(relation.input)

    def _sort(self, relation: Sort) -> Open:
        open_ = self._unlimited(relation.input)
        order = tuple(replace(key, scalar=open_.resolve(key.scalar)) for key in relation.keys)
        return replace(open_, post=replace(open_.post, order=order))

    def _limit(self, relation: Limit) -> Open:
        open_ = self._unlimited(relation.input)
        if isinstance(open_, OpenCore) and open_.copies:
            self._refuse_copies("LIMIT", relation.span)
        return replace(
            open_,
            post=replace(open_.post, limit=relation.count, offset=relation.offset),
        )


def _is_sorted(relation: Relation) -> bool:
    while isinstance(relation, Project | Filter | Limit):
        relation = relation.input
    return isinstance(relation, Sort)


def _on_keys(predicate: Scalar, keys: Mapping[str, Scalar]) -> bool:
    columns = list(predicate.find_all(exp.Column))
    return bool(columns) and all(c.table == GROUP and c.name in keys for c in columns)


def _below(predicate: Scalar, keys: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(predicate, lambda node: keys[node.name])
