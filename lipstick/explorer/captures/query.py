"""A captured query for people: its text, the type of its annotations, and its blocks."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from lipstick.capture.capture import Capture
from lipstick.engines.memory.memory import Memory
from lipstick.explorer.cells import cell
from lipstick.questions.contributions.question import has_inputs
from rewriter.analysis.annotation_type import annotation_type
from rewriter.blocks import Block, Kind, core_relations, topological
from rewriter.scalars.text import text

_OF_GROUP = re.compile(r"\bg\.`(?P<name>[^`]+)`")
_OF_MEMBER = re.compile(r"\bm\.`(?P<name>[^`]+)`")
_QUALIFIED = re.compile(r"(?<!\w)`?\w+`?\.(?=`[A-Za-z_]\w*`)")
_QUOTED = re.compile(r"`([A-Za-z_]\w*)`")
_WORD = re.compile(r"`(?:[^`]|``)+`|'(?:[^'\\]|\\.|'')*'|--[^\n]*|\w+|\s+|.", re.DOTALL)


def query(capture: Capture) -> dict[str, Any]:
    """Return the blocks of :meth:`lipstick.AnnotatedFrame.explain`, with places in the query.

    ``mentions`` are the places in the text where relations are named: start, end, relation.
    """
    manifest = capture.manifest
    blocks = [_block(block, capture) for block in topological(manifest.root)]
    return {
        "text": manifest.query,
        "type": cell(annotation_type(manifest.root), 2_000),
        "blocks": blocks,
        "lineage": _lineage(manifest.root, manifest.names),
        "mentions": _mentions(manifest.query, list(manifest.relations)),
    }


def plain(sql: str, block: Block) -> str:
    """SQL of a block in terms of the relations it reads: without its own names for columns."""
    aggregates = {name: text(call) for name, call in block.aggregates}
    keys = {name: text(key) for name, key in block.keys}
    stored = {} if block.core is None else {n: text(scalar) for n, scalar in block.core.select}

    def named(known: dict[str, str]) -> Callable[[re.Match[str]], str]:
        return lambda match: known.get(match["name"], match[0])

    for known, pattern in ((aggregates | keys, _OF_GROUP), (stored, _OF_MEMBER)):
        sql = pattern.sub(named(known), sql)
    return _QUOTED.sub(r"\1", _QUALIFIED.sub("", sql))


def _block(block: Block, capture: Capture) -> dict[str, Any]:
    counts = capture.manifest.counts.get(block.name, {})
    details = [
        {"what": "aggregate", "text": cell(plain(text(call), block))}
        for _, call in block.aggregates
    ]
    details += [
        {"what": "group by", "text": cell(plain(text(key), block))} for _, key in _keys(block)
    ]
    details += [
        {"what": "window function", "text": cell(plain(text(output.scalar), block))}
        for output in block.outputs
        if output.windowed
    ]
    details += [
        {"what": "condition", "text": cell(plain(text(c), block))} for c in block.conditions
    ]
    details += [{"what": "having", "text": cell(plain(text(c), block))} for c in block.having]
    details += [
        {"what": "order by", "text": cell(plain(text(key.scalar), block))} for key in block.order
    ]
    if block.limited:
        limit = "all" if block.limit is None else f"{block.limit:,}"
        details.append(
            {
                "what": "limit",
                "text": f"{limit}{f', offset {block.offset:,}' if block.offset else ''}",
            }
        )
    return {
        "name": block.name,
        "root": block is capture.manifest.root,
        "kind": _kind(block),
        "type": cell(annotation_type(block), 1_000),
        "relations": [] if block.core is None else _relations(block),
        "reads": [inner.name for inner in block.derived],
        "members": counts.get("members"),
        "rows": counts.get("rows"),
        "details": details,
    }


def _keys(block: Block) -> tuple[Any, ...]:
    return block.keys if block.kind is Kind.GROUP else ()


def _kind(block: Block) -> str:
    if block.kind is Kind.UNION:
        return "union"
    if block.kind is Kind.ROWS:
        return "rows"
    return "groups" if block.keys else "one group"


def _relations(block: Block) -> list[str]:
    assert block.core is not None
    return list(dict.fromkeys(scan.relation for scan in core_relations(block.core)))


def _lineage(root: Block, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return, for each column of the answer, its expression over what is captured."""
    return [
        {
            "column": cell(name),
            "from": cell(plain(text(output.scalar), root)),
            "stable": output.stable,
        }
        for name, output in zip(names, root.outputs, strict=True)
    ]


def _mentions(query: str, relations: list[str]) -> list[dict[str, Any]]:
    """Return the places where a text names relations, outside of literals and comments.

    What AS gives a name is not a relation.
    """
    known = {name.lower(): name for name in relations}
    known |= {name.rpartition(".")[2].lower(): name for name in relations}
    mentions, before = [], ""
    for match in _WORD.finditer(query[:20_000]):
        word = match[0].strip("`").lower()
        named = before == "as"
        before = word if word.strip() else before
        if match[0][0] not in "'-" and word in known and not named:
            entry = {"start": match.start(), "end": match.end(), "relation": known[word]}
            mentions.append(entry)
    return mentions


def explained(memory: Memory) -> list[int]:
    """Return the places of the columns whose values have inputs of their own.

    They are aggregates, and numbers that deletions can change.
    """
    return [at for at in range(len(memory.engine.root.outputs)) if has_inputs(memory, at)]


def relations(capture: Capture) -> list[dict[str, Any]]:
    """The relations that the query reads."""
    types = capture._token_types()
    return [
        {
            "name": record.name,
            "key": list(record.token),
            "types": [str(field.type) for field in types[name]] if name in types else [],
            "columns": list(record.columns),
            "from": cell(record.description),
            "verified": record.verified,
        }
        for name, record in capture.manifest.relations.items()
    ]
