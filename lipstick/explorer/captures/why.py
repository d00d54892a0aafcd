"""The explanation of a row: its annotation as a tree, its inputs, their shares, and its blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.engines.memory.groups import GroupRows
from lipstick.engines.memory.members import Members
from lipstick.engines.memory.memory import Memory
from lipstick.engines.memory.reach import (
    Reached,
    first_lineage,
    lineage_reach,
    members_of,
)
from lipstick.errors import first_line
from lipstick.explorer.budget import Budget
from lipstick.explorer.captures.query import plain
from lipstick.explorer.cells import cell, cells, columns
from lipstick.explorer.params import Params
from lipstick.questions.contributions.question import position_of
from lipstick.tracking.naming import shown_key
from rewriter.blocks import Block
from rewriter.scalars.text import text
from semiring.base import Array
from semiring.errors import LipstickError
from semiring.expression import Expression
from semiring.expression.terms import Atom, Constant, Delta, Monus, Product, Sum
from semiring.forms import factored
from semiring.polynomial import Polynomial
from semiring.token import Token, format_value

TERMS = 12
"""Summands of a sum that are shown at first."""

_FACTORED = 400
"""Terms of a polynomial that common factors are looked for in."""

_DEPTH = 40

_LETTERS = "\U0010ffff"
"""The relation of letters: the last one, so that tokens are shown before what letters stand for."""


def tree(annotation: Polynomial | Expression, terms: int = TERMS) -> dict[str, Any]:
    """An annotation as nested operations.

    Parameters
    ----------
    terms
        Summands of each sum at most; how many are left out is ``more``.

    Returns
    -------
    dict
        ``op`` is ``token``, ``number``, ``sum``, ``product``, ``delta``, ``monus`` or
        ``condition``; ``parts`` are operands, ``times`` a coefficient, ``power`` an exponent.
    """
    return _tree(Expression.of(annotation), terms, 0)


def _tree(
    node: Expression, terms: int, depth: int, letters: Mapping[Token, Expression] | None = None
) -> dict[str, Any]:
    """Return a tree; `letters`: what tokens stand for where common factors were taken out."""
    if depth > _DEPTH:
        return {"op": "condition", "text": cell(node.truncated(3))}
    if letters is None and isinstance(node, Sum) and len(node.summands) <= _FACTORED:
        node, letters = _factored(node)
    if isinstance(node, Atom):
        if letters and node.of_token in letters:
            return _tree(letters[node.of_token], terms, depth + 1)
        return token(node.of_token)
    if isinstance(node, Constant):
        return {"op": "number", "text": str(node.n)}
    if isinstance(node, Product):
        parts = [
            _tree(factor, terms, depth + 1, letters) | ({"power": n} if n > 1 else {})
            for factor, n in node.factors[:terms]
        ]
        return _folded({"op": "product", "parts": parts}, len(node.factors))
    if isinstance(node, Sum):
        parts = [
            _tree(summand, terms, depth + 1, letters) | ({"times": n} if n > 1 else {})
            for summand, n in node.summands[:terms]
        ]
        return _folded({"op": "sum", "parts": parts}, len(node.summands))
    if isinstance(node, Delta):
        return {"op": "delta", "parts": [_tree(node.operand, terms, depth + 1)]}
    if isinstance(node, Monus):
        sides = (node.left, node.right)
        return {"op": "monus", "parts": [_tree(side, terms, depth + 1) for side in sides]}
    return {"op": "condition", "text": cell(node.truncated(3))}


def _factored(node: Sum) -> tuple[Expression, dict[Token, Expression]]:
    """Return a sum with common factors taken out, and what its letters stand for.

    Letters are tokens for factors that are none, such as δ(x) and conditions.
    """
    letters: dict[Expression, Token] = {}
    products = []
    for summand, times in node.summands:
        product = Polynomial.constant(times)
        for factor, power in summand.factors if isinstance(summand, Product) else ((summand, 1),):
            if isinstance(factor, Constant):
                product *= Polynomial.constant(factor.n**power)
                continue
            if isinstance(factor, Atom):
                letter = factor.of_token
            else:
                letter = letters.setdefault(factor, Token(_LETTERS, (len(letters),)))
            product *= Polynomial({((letter, power),): 1})
        products.append(product)
    expression = factored(Polynomial.sum(products))
    return expression, {letter: factor for factor, letter in letters.items()}


def _folded(node: dict[str, Any], count: int) -> dict[str, Any]:
    hidden = count - len(node["parts"])
    return node | {"more": hidden} if hidden else node


def token(element: Token) -> dict[str, Any]:
    """A token: ``text`` is its key as people write it."""
    key = "|".join(format_value(value) for value in element.key)
    return {"op": "token", "relation": element.relation, "text": cell(key) or "·"}


READ = 600
"""Members at most for which an annotation is written down."""

LISTED = 200
"""Input rows of one relation, and witnesses, that are listed at most."""


def why(memory: Memory, row: int, params: Params, budget: Budget) -> dict[str, Any]:
    """Return the provenance of a row: the reasons for its presence.

    Parameters
    ----------
    row
        Its place in the answer.
    params
        ``terms``: summands of a sum to show.
    """
    at = np.array([position_of(memory, row)], dtype=np.int64)
    engine = memory.engine
    reached = lineage_reach(engine, at)
    budget.check()
    total = sum(len(reached.members) for reached in reached.values())
    derivations = len(reached[engine.root.name].members)
    answer: dict[str, Any] = {
        "row": row,
        "cells": cells(memory.answer().slice(row, 1))[0],
        "members": derivations,
        "inputs": (inputs := _inputs(memory, reached)),
        "sentence": _sentence(inputs, derivations if len(reached) == 1 else 1),
        "blocks": [
            {
                "name": block.name,
                "tuples": len(reached[block.name].positions),
                "members": len(reached[block.name].members),
            }
            for block in engine.blocks.values()
            if block.name in reached
        ],
        "decided": _decided(engine.root),
        "listed": _is_captured(members_of(engine.rows(engine.root.name))),
    }
    budget.check()
    if total > READ:
        answer["annotation"] = {"op": "condition", "text": f"too long to show: {total:,} terms"}
        return answer
    try:
        formal = annotation(memory, at)
        answer["annotation"] = tree(formal, params.integer("terms", TERMS, 1, READ))
        answer["text"] = cell(formal.truncated(40), 4_000)
    except LipstickError as error:
        answer["annotation"] = {"op": "condition", "text": cell(first_line(error))}
    return answer


def annotation(memory: Memory, at: Array) -> Polynomial | Expression:
    """The annotation of one row of the answer but for LIMIT, which all rows before it take part in.

    See :meth:`lipstick.Capture.polynomials` for the whole.
    """
    root = memory.engine.root.name
    return memory.formally(lambda formal: formal.uncut(root, at)[0])


def _sentence(inputs: Sequence[Mapping[str, Any]], derivations: int) -> str:
    """Return the input rows of a row in words; `derivations`: in how many ways they meet."""
    counts = [
        f"{each['count']:,} {'row' if each['count'] == 1 else 'rows'} of {each['relation']}"
        for each in inputs
        if each["count"]
    ]
    if not counts:
        return "No row of a tracked relation decides whether it is there."
    ways = f", which meet in {derivations:,} ways" if len(counts) > 1 and derivations > 1 else ""
    counts += [f"none of {each['relation']}" for each in inputs if not each["count"]]
    return f"It is made of {listed(counts)}{ways}."


def listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list in words."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def _decided(root: Block) -> list[str]:
    """Return the other conditions for the row to be there, as SQL."""
    deciders = [f"HAVING {plain(text(condition), root)}" for condition in root.having]
    deciders += [plain(text(condition), root) for condition in root.conditions]
    if root.limited:
        limit = "" if root.limit is None else f"LIMIT {root.limit:,}"
        deciders.append(f"{limit}{f' OFFSET {root.offset:,}' if root.offset else ''}".strip())
    return deciders


def _inputs(memory: Memory, reached: Mapping[str, Reached]) -> list[dict[str, Any]]:
    """Return the number of input rows of each relation, and the keys and labels of the first."""
    inputs = []
    relations = memory.engine.manifest.relations
    for name, (shown, count) in first_lineage(memory.engine, reached, LISTED).items():
        record = relations[name]
        inputs.append(
            {
                "relation": name,
                "key": list(record.token),
                "count": count,
                "keys": cells(shown, None),
                "labels": labels(record.naming, shown),
            }
        )
    return inputs


def labels(naming: str, table: pa.Table) -> list[str | None]:
    """Keys of tokens as people write them."""
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    return [cell("|".join(map(format_value, shown_key(naming, row)))) or "·" for row in rows]


def members(memory: Memory, row: int, params: Params) -> dict[str, Any]:
    """Return the ways in which a row came about: its members, their origins and their values."""
    engine = memory.engine
    at = np.array([position_of(memory, row)], dtype=np.int64)
    rows = engine.rows(engine.root.name)
    chosen = at
    if isinstance(rows, GroupRows):
        chosen, _ = rows.grouping.members_of(at)
        alive = rows.members.base_alive
        chosen = chosen if alive is None else chosen[alive[chosen]]
    offset, limit = params.integer("offset", 0, 0), params.integer("limit", 100, 1, 200)
    inside = members_of(rows)
    shown = chosen[offset : offset + limit]
    table = pa.table({})
    if inside is not None and inside.dataset is not None:
        data = inside.dataset
        names = [
            column for token_columns in inside.block.tokens for column in token_columns.columns
        ]
        names = list(dict.fromkeys([*names, *data.names]))
        table = pa.Table.from_arrays(
            [data.take(name, shown) for name in names], [_called(inside.block, n) for n in names]
        )
    return {
        "columns": columns(table.schema),
        "rows": cells(table),
        "places": list(range(offset, offset + table.num_rows)),
        "offset": offset,
        "total": len(chosen) if table.num_columns else 0,
    }


def _is_captured(members: Members | None) -> bool:
    """Return True if members are captured, and are not the tuples of other blocks."""
    return members is not None and members.dataset is not None


def _called(block: Block, name: str) -> str:
    """Return a column of members as the query writes it."""
    known = {} if block.core is None else dict(block.core.select)
    return plain(text(known[name]), block) if name in known else name
