"""From operators to blocks: one method per operator of the algebra.

Select, project, join and union merge into one core; a grouping, a LIMIT below something else, or a
union of groupings closes a block, whose tuples the core above refers to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlglot import exp

from rewriter.algebra import (
    Aggregate,
    Attribute,
    Filter,
    InnerJoin,
    Limit,
    OneRow,
    Project,
    Relation,
    Scalar,
    ScalarSubquery,
    Scan,
    SemiJoin,
    Sort,
    UnionAll,
    walk,
)
from rewriter.blocks import (
    GROUP,
    KEYS,
    MEMBER,
    UNION,
    Block,
    BlockSource,
    Kind,
    Lookup,
    Named,
    ScanSource,
    Semi,
    TokenSource,
    qualified,
)
from rewriter.dialect import SparkSQL
from rewriter.errors import UnsupportedError
from rewriter.lower.close import apart, close_core, close_post
from rewriter.lower.scope import (
    OpenCore,
    OpenPost,
    Post,
    TokenLeaves,
    conjuncts,
    rewrite_columns,
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
        self._peeked: dict[int, Open] = {}
        self._made: list[Relation] = []
        """Operators that are not part of the query: kept, since blocks are found by ``id``."""
        self._aliases = {GROUP, MEMBER, UNION, KEYS}
        self._prefix = _block_prefix(views)
        self._blocks = 0

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
            case SemiJoin():
                return self._semi_join(relation)
            case ScalarSubquery():
                return self._scalar_subquery(relation)
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

    def _semi_join(self, relation: SemiJoin) -> OpenCore:
        left = self._core(relation.left)
        outer_ids = {attribute.id for attribute in relation.left.attributes}
        inner_ids = {attribute.id for attribute in relation.right.attributes}
        pairs: list[tuple[Scalar, Scalar]] = []
        inner: list[Scalar] = []
        outer: list[Scalar] = []
        for condition in conjuncts(relation.condition):
            used = {node.name for node in condition.find_all(exp.Column)}
            if not used & inner_ids:
                outer.append(condition)
            elif not used & outer_ids:
                inner.append(condition)
            else:
                pairs.append(self._equality(condition, outer_ids, inner_ids, relation.span))
        block, columns = self._members_of(relation, inner, [right for _, right in pairs])
        semi = Semi(
            block,
            tuple(
                (left.resolve(scalar), column)
                for (scalar, _), column in zip(pairs, columns, strict=True)
            ),
        )
        predicates = tuple(p for c in outer for p in conjuncts(left.resolve(c)))
        return replace(left, semis=(*left.semis, semi), predicates=left.predicates + predicates)

    def _equality(
        self, condition: Scalar, outer: set[str], inner: set[str], span: Span | None
    ) -> tuple[Scalar, Scalar]:
        if isinstance(condition, exp.EQ):
            for one, other in (
                (condition.left, condition.right),
                (condition.right, condition.left),
            ):
                names = [{n.name for n in side.find_all(exp.Column)} for side in (one, other)]
                if names[0] <= outer and names[1] <= inner and names[0] and names[1]:
                    return one.unnest(), other.unnest()
        self._refuse(
            "EXISTS, IN or SEMI JOIN with a condition on both sides that is not an equality",
            "Only equalities between the outer and the inner row are supported so far.",
            span,
        )
        raise AssertionError("unreachable")

    def _members_of(
        self, relation: SemiJoin, inner: list[Scalar], columns: list[Scalar]
    ) -> tuple[Block, list[str]]:
        """Return the block whose identity is the correlated columns of a subquery."""
        right = relation.right
        for condition in inner:
            right = Filter(right, condition)
            self._made.append(right)
        names = [f"k{number}" for number in range(1, len(columns) + 1)]
        if not inner and all(isinstance(column, exp.Column) for column in columns):
            open_ = self._peeked[id(right)] = self._lower(right)
            if isinstance(open_, OpenPost) and not open_.post.limited and open_.keys:
                keys = {key for key, _ in open_.keys}
                resolved = [open_.resolve(column) for column in columns]
                if len(resolved) == len(keys) and {_group_key(r) for r in resolved} == keys:
                    return self._block(right), [column.name for column in columns]
        core = self._core(right)
        keys_: tuple[Named, ...] = tuple(
            (name, core.resolve(column)) for name, column in zip(names, columns, strict=True)
        )
        if not keys_:
            keys_ = (("k1", exp.true()),)
        post = OpenPost(
            kind=Kind.GROUP,
            env={name: qualified(GROUP, name) for name, _ in keys_},
            core=core,
            keys=keys_,
        )
        attributes = [Attribute(name, name) for name, _ in keys_]
        return close_post(post, attributes, self._name()), names

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
        stable={**left.stable, **right.stable},
        untokened=left.untokened or right.untokened,
    )
