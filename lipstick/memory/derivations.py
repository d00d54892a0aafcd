"""The derivations of rows of the answer, where these follow from the members' own tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from lipstick.memory.engine import Engine
from lipstick.memory.groups import GroupRows
from lipstick.memory.rows import MemberRows
from lipstick.memory.store import every
from rewriter.blocks import Kind
from semiring.base import Array, Semiring
from semiring.derivations import Derivations
from semiring.valuation import Valuation
from semiring.vocabulary import Scan


def written(
    engine: Engine,
    semiring: Semiring[Any],
    valuations: Mapping[str, Valuation[Any]],
    positions: Array,
    merged: tuple[Array, int] | None = None,
) -> pa.Array | None:
    """The annotations of rows of the answer in a semiring that writes derivations.

    Parameters
    ----------
    positions
        The rows.
    merged
        A code for each row, and how many codes there are: rows with one code are one, annotated
        with their sum. None: every row is itself.

    Returns
    -------
    pa.Array or None
        As `Semiring.to_arrow` gives them; None where the semiring has no such way, tokens have
        other values than themselves, or the annotations are not sums of products of tokens, or δ
        of such sums.
    """
    rows = engine.rows(engine.root.name)
    grouped = isinstance(rows, GroupRows)
    if not isinstance(rows, (GroupRows, MemberRows)) or not rows.members.alone:
        return None
    if grouped and (rows.block.difference is not None or not rows.block.keys):
        return None
    if not grouped and rows.block.kind is Kind.GROUP:
        return None
    if not type(semiring).writes_derivations or (merged and grouped and not semiring.idempotent):
        return None
    members = rows.members
    if not all(valuations[token.relation].of_itself for token in members.block.tokens):
        return None
    chosen, owners = positions, every(len(positions))
    if isinstance(rows, GroupRows):
        chosen, owners = rows.members_of(positions)
    segments = len(positions)
    if merged is not None:
        codes, segments = merged
        owners = codes[owners]
    assert members.dataset is not None
    scans = []
    for number, token in enumerate(members.block.tokens):
        columns = [members.dataset.take(name, chosen) for name in token.columns]
        absent = members.token(number).absent
        mask = None if absent is None else absent[chosen]
        scans.append(Scan(token.relation, columns, len(chosen), mask))
    derivations = Derivations.of(scans, owners.astype(np.int64), segments)
    return semiring.write(derivations, delta=grouped)
