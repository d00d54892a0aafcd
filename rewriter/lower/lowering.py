"""From operators to blocks: one method per operator of the algebra.

Select, project, join and union merge into one core; a grouping, a LIMIT below something else, or a
union of groupings closes a block, whose tuples the core above refers to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    AntiJoin,
    Attribute,
    CorrelatedScalar,
    Filter,
    Generate,
    InnerJoin,
    Limit,
    OneRow,
    OuterJoin,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Side,
    Sort,
    UnionAll,
    bracketed,
    column,
    walk,
)
from rewriter.blocks import (
    GROUP,
    KEYS,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Generator,
    Kind,
    Lookup,
    Named,
    OuterLookup,
    ScanSource,
    Semi,
    TokenSource,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.errors import UnsupportedError
from rewriter.lower.close import apart, close_core, close_post, is_stable
from rewriter.lower.collected import Collected, collected_by
from rewriter.lower.memberships import Correlation, correlation, distinct_values
from rewriter.lower.outer import Keyed, Padded, may_be_joined, outer_join_of_cores, where_true
from rewriter.lower.scope import (
    OpenCore,
    OpenPost,
    Post,
    TokenLeaves,
    conjuncts,
    rewrite_columns,
    substitute,
    without_post,
)
from rewriter.lower.unions import is_plain, union_of_cores
from rewriter.position import Span

Open = OpenCore | OpenPost

_KEYWORDS = {word for keyword in SparkSQL.Tokenizer.KEYWORDS for word in keyword.split()}
"""Words that mean something else than a table in some places where an alias stands."""


def lower(root: Relation, tokens: Mapping[str, TokenSource], sql: str = "") -> Block:
    """Cut a query into blocks and return the one that yields its answer.

    Parameters
    ----------
    root
        The query; its attributes become the outputs of the block, in order.
    tokens
        How each tracked relation is read and which columns hold its token.
    sql
        The user's text, for the excerpts of errors.

    Raises
    ------
    UnsupportedError
        Where an operator has no rule for what it is applied to.
    """
    views = {tokens[scan.relation].view for scan in walk(root) if isinstance(scan, Scan)}
    return _Lowering(tokens, sql, _reference_counts(root), views).root(root)


def _reference_counts(root: Relation) -> Counter[int]:
    counts: Counter[int] = Counter()

    def visit(relation: Relation) -> None:
        counts[id(relation)] += 1
        if counts[id(relation)] == 1:
            for child in relation.inputs:
                visit(child)

    visit(root)
    return counts


class _Lowering:
    def __init__(
        self,
        tokens: Mapping[str, TokenSource],
        sql: str,
        references: Counter[int],
        views: Iterable[str],
    ) -> None:
        self._tokens = tokens
        self._sql = sql
        self._references = references
        self._closed: dict[int, Block] = {}
        self._memberships: dict[tuple[int, ...], tuple[Block, list[tuple[Scalar, str]]]] = {}
        self._peeked: dict[int, Open] = {}
        self._made: list[Relation] = []
        """Operators that are not part of the query: kept, since blocks are found by ``id``."""
        self._aliases = {GROUP, MEMBER, UNION, KEYS}
        self._prefix = _block_prefix(views)
        self._blocks = 0
        self._ids = 0

    def root(self, relation: Relation) -> Block:
        return self._close(self._lower(relation), relation.attributes, f"{self._prefix}0")

    # -- closing ---------------------------------------------------------------------------

    def _close(self, open_: Open, attributes: tuple[Attribute, ...], name: str) -> Block:
        if isinstance(open_, OpenCore):
            return close_core(open_, attributes, name)
        return close_post(open_, attributes, name)

    def _block(self, relation: Relation) -> Block:
        """Return the block of a relation, one and the same for every reference to it."""
        if id(relation) not in self._closed:
            open_ = self._peeked.pop(id(relation), None) or self._operator(relation)
            if not open_.post.limited:
                open_ = replace(open_, post=Post())
            self._closed[id(relation)] = self._close(open_, relation.attributes, self._name())
        return self._closed[id(relation)]

    def _name(self) -> str:
        self._blocks += 1
        return f"{self._prefix}{self._blocks}"

    def _alias(self, base: str) -> str:
        name = "".join(c if c.isalnum() or c == "_" else "_" for c in base.lower())
        if name in {GROUP, MEMBER, UNION, KEYS} or name.upper() in _KEYWORDS:
            name = f"{name}_"
        name = apart(name, self._aliases)
        self._aliases.add(name)
        return name

    def _derived(self, relation: Relation, span: Span | None = None) -> OpenCore:
        """Return a core that reads the tuples of a relation as those of a block."""
        block = self._block(relation)
        if not block.unique_identity:
            self._refuse(
                "LIMIT in a subquery over a relation without provenance",
                "Track the relation with a key, so that its tuples can be told apart.",
                span,
            )
        alias = self._alias(block.name)
        stable = {output.name for output in block.outputs if output.stable} | set(block.identity)
        return OpenCore(
            env={o.name: qualified(alias, o.name) for o in block.outputs},
            sources=(BlockSource(alias, block),),
            stable={alias: frozenset(stable)} if block.stable_identity else {},
        )

    def _unlimited(self, relation: Relation) -> Open:
        """Return an operator's input, to which something is done after any LIMIT of it."""
        open_ = self._lower(relation)
        if not open_.post.limited:
            return open_
        self._peeked[id(relation)] = open_
        return self._derived(relation)

    def _core(self, relation: Relation) -> OpenCore:
        open_ = self._peeked.pop(id(relation), None) or self._lower(relation)
        if isinstance(open_, OpenPost) or open_.post.limited:
            self._peeked[id(relation)] = open_
            return self._derived(relation)
        return without_post(open_)

    def _refuse(self, problem: str, advice: str, span: Span | None) -> None:
        raise UnsupportedError(problem, advice, self._sql, span)

    # -- operators -------------------------------------------------------------------------

    def _lower(self, relation: Relation) -> Open:
        if self._references[id(relation)] > 1:
            # Shared by several references (a CTE used twice): one block, if it is one at all.
            if id(relation) in self._closed:
                return self._derived(relation)
            open_ = self._operator(relation)
            if isinstance(open_, OpenPost) or open_.post.limited:
                self._peeked[id(relation)] = open_
                return self._derived(relation)
            return open_
        return self._operator(relation)

    def _operator(self, relation: Relation) -> Open:
        match relation:
            case Scan():
                return self._scan(relation)
            case OneRow():
                return OpenCore(env={})
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
            case ScalarSubquery():
                return self._scalar_subquery(relation)
            case CorrelatedScalar():
                return self._correlated_scalar(relation)
            case Generate():
                return self._generate(relation)
            case Aggregate():
                return self._aggregate(relation)
            case UnionAll():
                return self._union_all(relation)
            case Sort():
                return self._sort(relation)
            case Limit():
                return self._limit(relation)
        raise TypeError(f"no rule for {type(relation).__name__}")

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

    def _filter(self, relation: Filter) -> Open:
        open_ = self._unlimited(relation.input)
        predicates = tuple(conjuncts(open_.resolve(relation.predicate)))
        if isinstance(open_, OpenCore):
            return replace(open_, predicates=open_.predicates + predicates, post=Post())
        keys = dict(open_.keys)
        having = list(open_.having)
        core = open_.core
        for predicate in predicates:
            if core is not None and keys and _on_keys(predicate, keys):
                below = _below(predicate, keys)
                core = replace(core, predicates=(*core.predicates, below))
            else:
                having.append(predicate)
        return replace(open_, core=core, having=tuple(having), post=Post())

    def _project(self, relation: Project) -> Open:
        open_ = self._lower(relation.input)
        env = {
            attribute.id: open_.resolve(scalar)
            for attribute, scalar in zip(relation.output, relation.scalars, strict=True)
        }
        return replace(open_, env=env)

    def _inner_join(self, relation: InnerJoin) -> OpenCore:
        left, right = self._core(relation.left), self._core(relation.right)
        joined = _cross(left, right)
        predicates = tuple(
            p for c in conjuncts(relation.condition) for p in conjuncts(joined.resolve(c))
        )
        return replace(joined, predicates=joined.predicates + predicates)

    def _semi_join(self, relation: SemiJoin | AntiJoin) -> OpenCore:
        negated = isinstance(relation, AntiJoin)
        parts = correlation(relation.condition, relation.left, relation.right)
        if parts.others:
            self._share(relation.left)
        left = self._core(relation.left)
        outer = tuple(p for c in parts.outer for p in conjuncts(left.resolve(c)))
        semi = self._membership(relation, parts, left)
        if not negated:
            return replace(left, semis=(*left.semis, semi), predicates=left.predicates + outer)
        semi = replace(semi, negated=True, guard=where_true(outer))
        return replace(left, semis=(*left.semis, semi))

    def _membership(
        self, relation: SemiJoin | AntiJoin, parts: Correlation, left: OpenCore
    ) -> Semi:
        """Return the membership of rows of the left in the block of their partners."""
        known = (id(relation.left), id(relation.right), id(relation.condition))
        if known not in self._memberships:
            made = self._by_values if parts.others else self._by_pairs
            self._memberships[known] = made(relation.left, relation.right, parts)
        block, pairs = self._memberships[known]
        resolved = tuple((left.resolve(scalar), column) for scalar, column in pairs)
        return Semi(block, resolved, null_safe=parts.null_safe or bool(parts.others))

    def _by_pairs(
        self, left: Relation, right: Relation, parts: Correlation
    ) -> tuple[Block, list[tuple[Scalar, str]]]:
        """Return the rows of the right, grouped by their sides of the equalities."""
        del left
        columns = [column for _, column in parts.pairs]
        for condition in parts.inner:
            right = Filter(right, condition)
            self._made.append(right)
        outer = [scalar for scalar, _ in parts.pairs]
        if not parts.inner and all(isinstance(column, exp.Column) for column in columns):
            found = self._keyed_by(right, columns)
            if found is not None:
                return found[0], list(zip(outer, found[1], strict=True))
        core = self._core(right)
        keys_ = [
            (f"k{number}", core.resolve(column)) for number, column in enumerate(columns, start=1)
        ]
        block = self._grouped(core, keys_ or [("k1", exp.true())])
        return block, [(scalar, name) for scalar, (name, _) in zip(outer, keys_, strict=True)]

    def _keyed_by(
        self, relation: Relation, columns: list[Scalar]
    ) -> tuple[Block, list[str]] | None:
        """Return the block of a grouping by just these columns, and what they are called there."""
        open_ = self._peeked[id(relation)] = self._lower(relation)
        resolved = [open_.resolve(column) for column in columns]
        if isinstance(open_, OpenPost):
            keys = {key for key, _ in open_.keys}
            if open_.post.limited or not keys or not _are_keys(resolved, keys):
                return None
            return self._block(relation), [column.name for column in columns]
        block = _only_block(open_)
        if block is None or not block.grouped or block.limited:
            return None
        names = [scalar.name for scalar in resolved if isinstance(scalar, exp.Column)]
        outputs = {output.name: output.scalar for output in block.outputs}
        if len(names) != len(resolved) or not _are_keys(
            [outputs[name] for name in names], dict(block.keys).keys()
        ):
            return None
        return block, names

    def _by_values(
        self, left: Relation, right: Relation, parts: Correlation
    ) -> tuple[Block, list[tuple[Scalar, str]]]:
        """Return the partners of rows of the left, grouped by the values that the condition uses.

        Where these values are known from the sources, they take part as values; else as tuples.
        """
        scalars = [scalar for scalar, _ in parts.pairs] + list(parts.others)
        known = {attribute.id for attribute in left.attributes}
        used = [node.name for scalar in scalars for node in scalar.find_all(exp.Column)]
        ids = [name for name in dict.fromkeys(used) if name in known]
        outer = self._core(left)
        values = distinct_values(outer, ids, self._alias("outer"))
        joined = _cross(self._core(right), values or outer)
        conditions = [*parts.inner, *parts.others]
        equal = exp.NullSafeEQ if parts.null_safe else exp.EQ
        conditions += [equal(this=a.copy(), expression=b.copy()) for a, b in parts.pairs]
        predicates = tuple(p for c in conditions for p in conjuncts(joined.resolve(c)))
        joined = replace(joined, predicates=joined.predicates + predicates)
        block = self._grouped(joined, [(name, joined.env[name]) for name in ids])
        return block, [(column(name), name) for name in ids]

    def _grouped(self, core: OpenCore, keys: list[Named]) -> Block:
        """Return the block of the groups of a core by some keys, without aggregates."""
        env = {name: qualified(GROUP, name) for name, _ in keys}
        post = OpenPost(kind=Kind.GROUP, env=env, core=core, keys=tuple(keys))
        return close_post(post, [Attribute(name, name) for name, _ in keys], self._name())

    def _outer_join(self, relation: OuterJoin) -> Open:
        self._share(relation.left)
        self._share(relation.right)
        keyed = self._keyed_join(relation)
        if keyed is not None:
            return keyed
        left, right = self._core(relation.left), self._core(relation.right)
        if not (may_be_joined(left) and may_be_joined(right)):
            return self._union_all(self._as_union(relation))
        env = {**left.env, **right.env}
        condition = conjuncts(relation.condition)
        predicates = [p for c in condition for p in conjuncts(substitute(c, env))]
        return outer_join_of_cores(
            relation.attributes,
            (left, right),
            predicates,
            self._padded(relation, Side.LEFT) if relation.side.keeps_left else None,
            self._padded(relation, Side.RIGHT) if relation.side.keeps_right else None,
            self._alias("outer_join"),
        )

    def _keyed_join(self, relation: OuterJoin) -> OpenCore | None:
        """Return an outer join whose kept sides find at most one tuple on the other side.

        A LEFT JOIN is then its left side with what it finds; a FULL JOIN is a COGROUP.
        """
        parts = correlation(relation.condition, relation.left, relation.right)
        if parts.outer or parts.inner or parts.others or not parts.pairs or parts.null_safe:
            return None
        lefts, rights = ([pair[n] for pair in parts.pairs] for n in (0, 1))
        if relation.side is Side.FULL:
            sides = ((relation.left, lefts), (relation.right, rights))
            # Asked of both before either is made a block of its own.
            if not all(self._may_be_keyed(side, columns) for side, columns in sides):
                return None
            left, right = (self._unique_on(side, columns) for side, columns in sides)
            if left is None or right is None:
                return None
            return self._cogroup(relation, parts, left, right)
        kept, other, outer, inner = relation.left, relation.right, lefts, rights
        if relation.side is Side.RIGHT:
            kept, other, outer, inner = relation.right, relation.left, rights, lefts
        found = self._unique_on(other, inner)
        if found is None or found.block.kind is not Kind.GROUP:
            return None
        core = self._core(kept)
        pairs = tuple(
            (core.resolve(scalar), name) for scalar, name in zip(outer, found.names, strict=True)
        )
        alias = self._alias(f"{found.block.name}_match")
        lookup = OuterLookup(alias, found.block, pairs, factor=True)
        return replace(
            core,
            env={**core.env, **found.columns(alias)},
            outer_lookups=(*core.outer_lookups, lookup),
        )

    def _unique_on(self, relation: Relation, columns: list[Scalar]) -> Keyed | None:
        """Return the block of a relation if it has at most one tuple for values of these columns.

        That is a grouping by just them, or a relation in which they are known to be unique.
        """
        if not all(isinstance(column, exp.Column) for column in columns):
            return None
        found = self._keyed_by(relation, columns)
        if found is None and self._is_unique(self._peeked[id(relation)], columns):
            block = self._block(relation)
            names = [column.name for column in columns]
            return Keyed(block, names, {output.name: output.name for output in block.outputs})
        if found is None:
            return None
        block, names = found
        open_ = self._peeked.pop(id(relation), None)
        if isinstance(open_, OpenCore):
            (source,) = open_.sources
            env = dict(open_.env)
            renamed = {
                identity: scalar
                for identity, scalar in env.items()
                if isinstance(scalar, exp.Column) and scalar.table == source.alias
            }
            if len(renamed) != len(env):
                return None
            return Keyed(block, names, {i: scalar.name for i, scalar in renamed.items()})
        return Keyed(block, names, {o.name: o.name for o in block.outputs})

    def _may_be_keyed(self, relation: Relation, columns: list[Scalar]) -> bool:
        if not all(isinstance(column, exp.Column) for column in columns):
            return False
        if self._keyed_by(relation, columns) is not None:
            return True
        return self._is_unique(self._peeked[id(relation)], columns)

    def _is_unique(self, open_: Open, columns: list[Scalar]) -> bool:
        """Whether columns of one scan, filtered or not, are known to be unique."""
        if not isinstance(open_, OpenCore) or open_.post.limited or open_.scalars:
            return False
        if open_.semis or open_.generators or open_.outer_lookups or len(open_.sources) != 1:
            return False
        (source,) = open_.sources
        resolved = [open_.resolve(column) for column in columns]
        if not isinstance(source, ScanSource) or not all(
            isinstance(scalar, exp.Column) and scalar.table == source.alias for scalar in resolved
        ):
            return False
        names = {scalar.name.lower() for scalar in resolved}
        known = self._tokens[source.relation].unique
        return any({name.lower() for name in key} == names for key in known)

    def _cogroup(
        self, relation: OuterJoin, parts: Correlation, left: Keyed, right: Keyed
    ) -> OpenCore:
        """Return one tuple per key of either side, δ of their sum, with the values of both.

        NULL keys are equal to none: they are grouped by side.
        """
        sides = []
        for number, (side, columns) in enumerate(
            (
                (relation.left, [pair[0] for pair in parts.pairs]),
                (relation.right, [pair[1] for pair in parts.pairs]),
            )
        ):
            unknown = exp.or_(
                *(exp.Is(this=c.copy(), expression=exp.null()) for c in columns), copy=False
            )
            apart_ = exp.Case().when(unknown, exp.Literal.number(number))
            output = tuple(
                Attribute(self._fresh_id(f"key{n}"), "key") for n in range(len(columns) + 1)
            )
            sides.append(Project(side, output, (*columns, apart_)))
        keys = tuple(Attribute(self._fresh_id("key"), "key") for _ in sides[0].output)
        union = UnionAll(tuple(sides), keys, relation.span)
        grouped = tuple(Attribute(self._fresh_id("key"), "key") for _ in keys)
        group = Aggregate(
            union, grouped, tuple(key.column() for key in keys), (), (), relation.span
        )
        self._made += [*sides, union, group]
        for operator in (*sides, union, group):
            self._references[id(operator)] = 1
        core = self._derived(group)
        lookups = list(core.outer_lookups)
        env: dict[str, Scalar] = {}
        side_of = core.env[grouped[-1].id]
        for number, keyed in enumerate((left, right)):
            alias = self._alias(f"{keyed.block.name}_side")
            pairs = tuple(
                (core.env[key.id], name)
                for key, name in zip(grouped[:-1], keyed.names, strict=True)
            )
            own = exp.EQ(
                this=exp.func("coalesce", side_of.copy(), exp.Literal.number(number)),
                expression=exp.Literal.number(number),
            )
            lookups.append(OuterLookup(alias, keyed.block, pairs, False, True, own))
            env |= keyed.columns(alias)
        return replace(core, env={**core.env, **env}, outer_lookups=tuple(lookups))

    def _fresh_id(self, hint: str) -> str:
        self._ids += 1
        return f"{hint}__{self._ids}"

    def _padded(self, relation: OuterJoin, side: Side) -> Padded:
        """Return the rows of one input and what must not be there for them to be padded."""
        kept, other = relation.left, relation.right
        if side is Side.RIGHT:
            kept, other = other, kept
        anti = AntiJoin(kept, other, relation.condition)
        self._made.append(anti)
        core = self._core(kept)
        parts = correlation(relation.condition, kept, other)
        semi = self._membership(anti, parts, core)
        guard = where_true([p for c in parts.outer for p in conjuncts(core.resolve(c))])
        return Padded(core, replace(semi, negated=True, guard=guard))

    def _as_union(self, relation: OuterJoin) -> UnionAll:
        """Return an outer join as the union of an inner join and padded anti joins."""
        left, right, condition = relation.left, relation.right, relation.condition
        output = relation.attributes
        inner = InnerJoin(left, right, condition, relation.span)
        branches: list[Relation] = [Project(inner, output, tuple(a.column() for a in output))]
        kept = [(left, right)] * relation.side.keeps_left
        kept += [(right, left)] * relation.side.keeps_right
        for one, other in kept:
            anti = AntiJoin(one, other, condition, relation.span)
            mine = set(one.attributes)
            scalars = tuple(a.column() if a in mine else exp.null() for a in output)
            branches.append(Project(anti, output, scalars))
        union = UnionAll(tuple(branches), output, relation.span)
        self._made.append(union)
        for operator in (*branches, *(child for b in branches for child in b.inputs)):
            self._references[id(operator)] = 1
        return union

    def _share(self, relation: Relation) -> None:
        """Note that a relation is read more than once: what is a block in it is one block."""
        for operator in walk(relation):
            self._references[id(operator)] += 1

    def _scalar_subquery(self, relation: ScalarSubquery) -> Open:
        block = self._block(relation.query)
        open_ = self._unlimited(relation.input)
        alias = self._alias(f"{block.name}_value")
        value = qualified(alias, block.outputs[0].name)
        return replace(
            open_,
            env={**open_.env, relation.output.id: value},
            scalars=(*open_.scalars, Lookup(alias, block, scalar=True)),
        )

    def _correlated_scalar(self, relation: CorrelatedScalar) -> OpenCore:
        block = self._block(relation.query)
        core = self._core(relation.input)
        alias = self._alias(f"{block.name}_value")
        pairs = tuple((core.resolve(scalar), key.id) for scalar, key in relation.pairs)
        value: Scalar = qualified(alias, relation.value.id)
        if relation.empty is not None:
            there = exp.Is(this=qualified(alias, relation.pairs[0][1].id), expression=exp.null())
            value = exp.Case().when(there, relation.empty.copy()).else_(value)
        lookup = OuterLookup(alias, block, pairs, factor=False)
        return replace(
            core,
            env={**core.env, relation.output.id: value},
            outer_lookups=(*core.outer_lookups, lookup),
        )

    def _generate(self, relation: Generate) -> OpenCore:
        collected = collected_by(relation)
        if collected is not None:
            return self._unnest(relation, collected)
        core = self._core(relation.input)
        alias = self._alias("generated")
        argument = core.resolve(relation.argument)
        generator = Generator(
            alias,
            argument,
            relation.position.id,
            tuple(attribute.id for attribute in relation.output),
            relation.outer,
            relation.inline,
        )
        stable = dict(core.stable)
        if is_stable(argument, core):
            stable |= dict.fromkeys(generator.aliases)
        position = qualified(generator.position_alias, generator.position)
        made = {a.id: qualified(alias, a.id) for a in relation.output}
        return replace(
            core,
            env={**core.env, relation.position.id: position, **made},
            generators=(*core.generators, generator),
            stable=stable,
        )

    def _unnest(self, relation: Generate, collected: Collected) -> OpenCore:
        """Return what is collected and taken apart again: groups joined with their members.

        Every element keeps the annotation of the tuple that it was collected from.
        """
        below = collected.below
        self._share(below)
        groups = self._derived(relation.input)
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
        joined = _cross(groups, members)
        conditions: list[Scalar] = [
            exp.NullSafeEQ(this=qualified(source.alias, attribute.id), expression=bracketed(scalar))
            for attribute, scalar in zip(collected.keys, scalars, strict=True)
        ]
        conditions.append(exp.Not(this=exp.Is(this=bracketed(value.copy()), expression=exp.null())))
        if collected.condition is not None:
            conditions += conjuncts(members.resolve(collected.condition))
        fields = collected.fields(value) if relation.inline else (value,)
        return replace(
            joined,
            env={**groups.env, **dict(zip((a.id for a in relation.output), fields, strict=True))},
            predicates=(*joined.predicates, *conditions),
        )

    def _aggregate(self, relation: Aggregate) -> OpenPost:
        core = self._core(relation.input)
        keys = tuple(
            (attribute.id, core.resolve(key))
            for attribute, key in zip(relation.key_output, relation.keys, strict=True)
        )
        aggregates = tuple(
            (attribute.id, core.resolve(call))
            for attribute, call in zip(relation.aggregate_output, relation.aggregates, strict=True)
        )
        env = {attribute.id: qualified(GROUP, attribute.id) for attribute in relation.attributes}
        return OpenPost(Kind.GROUP, env, core, keys, aggregates)

    def _union_all(self, relation: UnionAll) -> Open:
        branches = [self._lower(branch) for branch in relation.branches]
        cores = [branch for branch in branches if isinstance(branch, OpenCore) and is_plain(branch)]
        if len(cores) == len(branches):
            return union_of_cores(relation, cores, self._alias("union_"))
        for branch, open_ in zip(relation.branches, branches, strict=True):
            if id(branch) not in self._closed:
                self._peeked[id(branch)] = open_
        blocks = tuple(self._block(branch) for branch in relation.branches)
        for block in blocks:
            if not block.unique_identity:
                self._refuse(
                    "UNION ALL of a grouping and a relation without provenance",
                    "Track the relation with a key, so that its tuples can be told apart.",
                    relation.span,
                )
        columns = [output.name for output in blocks[0].outputs]
        stable = frozenset(
            column
            for position, column in enumerate(columns)
            if all(block.outputs[position].stable for block in blocks)
        )
        return OpenPost(
            kind=Kind.UNION,
            env={
                attribute.id: qualified(UNION, column)
                for attribute, column in zip(relation.output, columns, strict=True)
            },
            branches=blocks,
            stable_columns=stable,
        )

    def _sort(self, relation: Sort) -> Open:
        open_ = self._unlimited(relation.input)
        order = tuple(replace(key, scalar=open_.resolve(key.scalar)) for key in relation.keys)
        return replace(open_, post=Post(order=order))

    def _limit(self, relation: Limit) -> Open:
        open_ = self._unlimited(relation.input)
        return replace(
            open_,
            post=replace(open_.post, limit=relation.count, offset=relation.offset),
        )


def _block_prefix(views: Iterable[str]) -> str:
    """Return what names of blocks begin with, so that no view has the name of a block's table."""
    prefix = "b"
    taken = [view.lower() for view in views]
    while any(re.match(rf"{prefix}\d+(_|$)", view) for view in taken):
        prefix += "_"
    return prefix


def _are_keys(scalars: list[Scalar], keys: Set[str]) -> bool:
    """Whether scalars over a grouping are its keys, each once."""
    return len(scalars) == len(keys) and {_group_key(scalar) for scalar in scalars} == keys


def _only_block(core: OpenCore) -> Block | None:
    """Return the block whose tuples a core yields one for one, if that is all it does."""
    more = core.predicates or core.semis or core.scalars or core.generators or core.outer_lookups
    if more or core.post.limited:
        return None
    match core.sources:
        case (BlockSource(block=block),):
            return block
    return None


def _group_key(scalar: Scalar) -> str | None:
    if isinstance(scalar, exp.Column) and scalar.table == GROUP:
        return str(scalar.name)
    return None


def _on_keys(predicate: Scalar, keys: Mapping[str, Scalar]) -> bool:
    columns = list(predicate.find_all(exp.Column))
    return bool(columns) and all(c.table == GROUP and c.name in keys for c in columns)


def _below(predicate: Scalar, keys: Mapping[str, Scalar]) -> Scalar:
    return rewrite_columns(predicate, lambda node: keys[node.name])


def _cross(left: OpenCore, right: OpenCore) -> OpenCore:
    return OpenCore(
        env={**left.env, **right.env},
        sources=left.sources + right.sources,
        predicates=left.predicates + right.predicates,
        semis=left.semis + right.semis,
        scalars=left.scalars + right.scalars,
        tokens=left.tokens + right.tokens,
        generators=left.generators + right.generators,
        outer_lookups=left.outer_lookups + right.outer_lookups,
        stable={**left.stable, **right.stable},
        untokened=left.untokened or right.untokened,
    )
