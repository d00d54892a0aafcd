"""Blocks as JSON and back: the query in a capture's manifest.

Scalars are written as Spark SQL text; blocks refer to each other by name, and a block comes after
the blocks that it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import sqlglot
from sqlglot import exp

from rewriter.algebra import Scalar, SortKey
from rewriter.blocks import (
    KINDS,
    MEMBER,
    Block,
    BlockSource,
    ConstantSource,
    Core,
    Difference,
    Generator,
    IterationSource,
    Kind,
    Match,
    MatchKind,
    Named,
    Output,
    ScanSource,
    Source,
    TokenColumns,
    UnionSource,
    ValuesSource,
    topological,
)
from rewriter.dialect import SparkSQL
from rewriter.scalars.functions import as_aggregate
from rewriter.scalars.text import qualified, scalar, text
from semiring.support.document import check_shape

Json = dict[str, Any]

_Named = list[tuple[str, str]]
_Order = list[tuple[str, bool, bool]]


class _Semi(TypedDict):
    block: str
    pairs: _Named
    negated: bool
    null_safe: bool
    guard: str | None


class _Source(TypedDict):
    """Exactly one of scan, iteration, block, union, values and constant is set; see
    :func:`_source`.
    """

    alias: str
    scan: NotRequired[str]
    iteration: NotRequired[list[str]]
    view: NotRequired[str]
    block: NotRequired[str]
    union: NotRequired[list[_Core]]
    values: NotRequired[_Core]
    constant: NotRequired[str]
    columns: NotRequired[list[str]]
    position: NotRequired[str]


class _Generator(TypedDict):
    alias: str
    argument: str
    position: str | None
    columns: list[str]
    outer: bool
    inline: bool
    function: bool
    placed: bool


class _Core(TypedDict):
    sources: list[_Source]
    predicates: list[str]
    semis: list[_Semi]
    select: _Named
    generators: list[_Generator]
    once: NotRequired[bool]
    sample: NotRequired[str | None]
    order: NotRequired[_Order]


class _Tokens(TypedDict):
    relation: str
    alias: str
    columns: list[str]


class _Lookup(TypedDict):
    alias: str
    block: str
    on: _Named
    scalar: bool


class _OuterLookup(TypedDict):
    alias: str
    block: str
    pairs: _Named
    factor: bool
    null_safe: bool
    guard: str | None


class _Difference(TypedDict):
    side: str
    common: bool


class _Block(TypedDict):
    name: str
    kind: str
    core: _Core | None
    tokens: list[_Tokens]
    lookups: list[_Lookup]
    semis: list[_Semi]
    conditions: list[str]
    keys: _Named
    aggregates: _Named
    branches: list[str]
    having: list[str]
    outputs: list[tuple[str, str, bool]]
    order: _Order
    limit: int | None
    offset: int
    identity: list[str]
    stable_identity: bool
    unique_identity: bool
    generators: list[_Generator]
    outer_lookups: list[_OuterLookup]
    sets: int
    difference: _Difference | None
    copies: list[str]


def blocks_to_json(root: Block) -> list[Json]:
    """Return the blocks of a query, inner ones first, the root last."""
    return [_block(block) for block in topological(root)]


def blocks_from_json(documents: Sequence[Mapping[str, Any]]) -> Block:
    """Return the root of the blocks that :func:`blocks_to_json` wrote.

    Raises
    ------
    ValueError, KeyError, SqlglotError
        The document does not have this form.
    """
    check_shape(documents, list[_Block], "blocks")
    known: dict[str, Block] = {}
    for document in documents:
        block = _read_block(document, known)
        if block.name in known:
            raise ValueError(f"the block {block.name} occurs twice")
        known[block.name] = block
    if not known:
        raise ValueError("it has no blocks")
    return block


def _table(sql: str) -> Scalar:
    """Return VALUES, or the call of a table function."""
    parsed = sqlglot.parse_one(f"SELECT * FROM {sql}", dialect=SparkSQL).args["from_"].this
    relation: Scalar = parsed if isinstance(parsed, exp.Values) else parsed.this
    return relation


def _named(columns: Sequence[Named]) -> list[list[str]]:
    return [[name, text(value)] for name, value in columns]


def _read_named(columns: Sequence[Sequence[str]]) -> tuple[Named, ...]:
    return tuple((name, scalar(value)) for name, value in columns)


def _probe(match: Match) -> Json:
    return {
        "block": match.block.name,
        "pairs": [[text(left), right] for left, right in match.pairs],
        "null_safe": match.null_safe,
        "guard": None if match.guard is None else text(match.guard),
    }


def _semi(semi: Match) -> Json:
    return {**_probe(semi), "negated": semi.negated}


def _read_probe(document: Mapping[str, Any], known: Mapping[str, Block], kind: MatchKind) -> Match:
    return Match(
        document.get("alias", ""),
        known[document["block"]],
        tuple((scalar(left), right) for left, right in document["pairs"]),
        kind,
        document["null_safe"],
        None if document["guard"] is None else scalar(document["guard"]),
        document.get("factor", True),
    )


def _read_semi(document: Mapping[str, Any], known: Mapping[str, Block]) -> Match:
    kind = MatchKind.ABSENT if document["negated"] else MatchKind.EXISTS
    return _read_probe(document, known, kind)


def _lookup(match: Match) -> Json:
    return {
        "alias": match.alias,
        "block": match.block.name,
        "on": [[left.name, its] for left, its in match.pairs],
        "scalar": match.kind is MatchKind.ONE,
    }


def _read_lookup(document: Mapping[str, Any], known: Mapping[str, Block]) -> Match:
    inner = known[document["block"]]
    if document["scalar"]:
        return Match(document["alias"], inner, kind=MatchKind.ONE, factor=False)
    pairs = tuple((qualified(MEMBER, name), its) for name, its in document["on"])
    return Match(document["alias"], inner, pairs, null_safe=bool(pairs))


def _source(source: Source) -> Json:
    if isinstance(source, ScanSource):
        return {"scan": source.relation, "alias": source.alias, "view": source.view}
    if isinstance(source, IterationSource):
        relations = list(source.relations)
        return {"iteration": relations, "alias": source.alias, "view": source.view}
    if isinstance(source, BlockSource):
        return {"block": source.block.name, "alias": source.alias}
    if isinstance(source, UnionSource):
        return {"union": [_core(branch) for branch in source.branches], "alias": source.alias}
    if isinstance(source, ValuesSource):
        return {"values": _core(source.core), "alias": source.alias}
    if isinstance(source, ConstantSource):
        return {
            "constant": text(source.table),
            "alias": source.alias,
            "columns": list(source.columns),
            "position": source.position,
        }
    raise TypeError(f"{type(source).__name__} is not written")


def _read_source(document: Mapping[str, Any], known: Mapping[str, Block]) -> Source:
    alias = document["alias"]
    if "scan" in document:
        return ScanSource(alias, document["scan"], document["view"])
    if "iteration" in document:
        return IterationSource(alias, document["view"], tuple(document["iteration"]))
    if "block" in document:
        return BlockSource(alias, known[document["block"]])
    if "values" in document:
        return ValuesSource(alias, _read_core(document["values"], known))
    if "constant" in document:
        columns = tuple(document["columns"])
        return ConstantSource(alias, _table(document["constant"]), columns, document["position"])
    return UnionSource(alias, tuple(_read_core(branch, known) for branch in document["union"]))


def _core(core: Core) -> Json:
    return {
        "sources": [_source(source) for source in core.sources],
        "predicates": [text(predicate) for predicate in core.predicates],
        "semis": [_semi(semi) for semi in core.semis],
        "select": _named(core.select),
        "generators": [_generator(generator) for generator in core.generators],
        "once": core.once,
        "sample": None if core.sample is None else text(core.sample).strip(),
        "order": _order(core.order),
    }


def _read_core(document: Mapping[str, Any], known: Mapping[str, Block]) -> Core:
    return Core(
        sources=tuple(_read_source(source, known) for source in document["sources"]),
        predicates=tuple(scalar(predicate) for predicate in document["predicates"]),
        semis=tuple(_read_semi(semi, known) for semi in document["semis"]),
        select=_read_named(document["select"]),
        generators=tuple(_read_generator(generator) for generator in document["generators"]),
        once=document.get("once", False),
        sample=_sample(document.get("sample")),
        order=_read_order(document.get("order", [])),
    )


def _order(keys: Sequence[SortKey]) -> list[list[Any]]:
    return [[text(key.scalar), key.descending, key.nulls_first] for key in keys]


def _read_order(document: Sequence[Sequence[Any]]) -> tuple[SortKey, ...]:
    return tuple(SortKey(scalar(value), last, nulls) for value, last, nulls in document)


def _sample(sql: str | None) -> Scalar | None:
    if sql is None:
        return None
    parsed = sqlglot.parse_one(f"SELECT * FROM t {sql}", dialect=SparkSQL).args["from_"]
    sample: Scalar = parsed.this.args["sample"].pop()
    return sample


def _generator(generator: Generator) -> Json:
    return {
        "alias": generator.alias,
        "argument": text(generator.argument),
        "position": generator.position,
        "columns": list(generator.columns),
        "outer": generator.outer,
        "inline": generator.inline,
        "function": generator.function,
        "placed": generator.placed,
    }


def _read_generator(document: Mapping[str, Any]) -> Generator:
    return Generator(
        document["alias"],
        scalar(document["argument"]),
        document["position"],
        tuple(document["columns"]),
        document["outer"],
        document["inline"],
        document["function"],
        document["placed"],
    )


def _difference(block: Block) -> Json | None:
    difference = block.difference
    return (
        None if difference is None else {"side": text(difference.side), "common": difference.common}
    )


def _read_difference(document: Mapping[str, Any] | None) -> Difference | None:
    if document is None:
        return None
    return Difference(scalar(document["side"]), document["common"])


def _block(block: Block) -> Json:
    return {
        "name": block.name,
        "kind": block.kind.value,
        "core": None if block.core is None else _core(block.core),
        "tokens": [
            {"relation": t.relation, "alias": t.alias, "columns": list(t.columns)}
            for t in block.tokens
        ],
        "lookups": [_lookup(match) for match in (*block.joined, *block.subqueries)],
        "semis": [_semi(semi) for semi in block.memberships],
        "conditions": [text(condition) for condition in block.conditions],
        "keys": _named(block.keys),
        "aggregates": _named(block.aggregates),
        "branches": [branch.name for branch in block.branches],
        "having": [text(condition) for condition in block.having],
        "outputs": [[o.name, text(o.scalar), o.stable] for o in block.outputs],
        "order": _order(block.order),
        "limit": block.limit,
        "offset": block.offset,
        "identity": list(block.identity),
        "stable_identity": block.stable_identity,
        "unique_identity": block.unique_identity,
        "generators": [_generator(generator) for generator in block.generators],
        "outer_lookups": [
            {"alias": each.alias, **_probe(each), "factor": each.factor} for each in block.lookups
        ],
        "sets": block.sets,
        "difference": _difference(block),
        "copies": [text(count) for count in block.copies],
    }


def _read_block(document: Mapping[str, Any], known: Mapping[str, Block]) -> Block:
    core = document["core"]
    aggregates = _read_named(document["aggregates"])
    return KINDS[Kind(document["kind"])](
        name=document["name"],
        core=None if core is None else _read_core(core, known),
        tokens=tuple(
            TokenColumns(t["relation"], t["alias"], tuple(t["columns"])) for t in document["tokens"]
        ),
        matches=(
            *(_read_lookup(each, known) for each in document["lookups"]),
            *(
                _read_probe(each, known, MatchKind.AT_MOST_ONE)
                for each in document["outer_lookups"]
            ),
            *(_read_semi(each, known) for each in document["semis"]),
        ),
        conditions=tuple(scalar(condition) for condition in document["conditions"]),
        keys=_read_named(document["keys"]),
        aggregates=tuple((n, as_aggregate(call)) for n, call in aggregates),
        branches=tuple(known[name] for name in document["branches"]),
        having=tuple(scalar(condition) for condition in document["having"]),
        outputs=tuple(Output(n, scalar(v), stable) for n, v, stable in document["outputs"]),
        order=_read_order(document["order"]),
        limit=document["limit"],
        offset=document["offset"],
        identity=tuple(document["identity"]),
        stable_identity=document["stable_identity"],
        unique_identity=document["unique_identity"],
        generators=tuple(_read_generator(generator) for generator in document["generators"]),
        sets=document["sets"],
        difference=_read_difference(document["difference"]),
        copies=tuple(scalar(count) for count in document["copies"]),
    )
