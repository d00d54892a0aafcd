"""The blocks of a query, from its root."""

from __future__ import annotations

from rewriter.blocks.block import Block


def decided_once(root: Block) -> bool:
    """Tell whether chance decides part of the answer, which is then no function of its inputs."""
    return any(block.core is not None and block.core.once for block in topological(root))


def topological(root: Block) -> tuple[Block, ...]:
    """Return the root and every block it reads, directly or not, inner ones first."""
    order: dict[str, Block] = {}

    def visit(block: Block) -> None:
        if block.name in order:
            return
        for inner in block.derived:
            visit(inner)
        order[block.name] = block

    visit(root)
    return tuple(order.values())
