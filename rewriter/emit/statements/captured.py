"""Tables of captured members, all or without deleted ones, read from views."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from rewriter.blocks import (
    MEMBER,
    Block,
    qualified,
)
from rewriter.emit import (
    exists_in,
    table,
)

ViewOf = Callable[[Block], str]


def captured(views: ViewOf) -> Callable[[Block], exp.Select]:
    return lambda block: exp.select("*").from_(
        exp.Table(this=exp.to_identifier(views(block), quoted=True))
    )


def surviving(
    block: Block, view: str, deleted: Mapping[str, tuple[str, tuple[str, ...]]]
) -> exp.Select:
    members = exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(MEMBER)))
    members = members.from_(table(view, MEMBER))
    for token in block.tokens:
        if token.relation not in deleted:
            continue
        gone, columns = deleted[token.relation]
        token_columns = [qualified(MEMBER, name) for name in token.columns]
        deleted_token = exists_in(gone, "d", columns, zip(columns, token_columns, strict=True))
        members = members.where(exp.Not(this=deleted_token))
    return members
