"""The tuples of a union: those of its branches, which are blocks."""

from __future__ import annotations

from sqlglot import exp

from rewriter.blocks import Block, Named, qualified
from rewriter.emit.core import TableOf
from rewriter.emit.trees import BRANCH, PROVENANCE, named, table, union_all


def union_rows(
    block: Block, table_of: TableOf, *, potential: bool = False, provenance: bool = False
) -> exp.Query:
    """Return the tuples of all branches: branch number, their identities, their columns.

    The annotation is a struct of the branch's number and a field per branch, NULL but for its own.
    """
    selects: list[exp.Query] = []
    for number, branch in enumerate(block.branches):
        columns: list[Named] = [(BRANCH, exp.Literal.number(number))]
        for other, inner in enumerate(block.branches):
            for name in inner.identity:
                own_branch = other == number
                columns.append(
                    (f"_{other}_{name}", qualified("t", name) if own_branch else exp.null())
                )
        for position, name in enumerate(_union_columns(block)):
            output = branch.outputs[position]
            if potential and not all(b.outputs[position].stable for b in block.branches):
                continue
            scalar = exp.null() if output.always_null else qualified("t", output.name)
            columns.append((name, scalar))
        if provenance:
            fields: list[exp.Expr] = [exp.Literal.string("branch"), exp.Literal.number(number)]
            for other in range(len(block.branches)):
                own_branch = other == number
                fields.append(exp.Literal.string(f"p{other}"))
                fields.append(qualified("t", PROVENANCE) if own_branch else exp.null())
            columns.append((PROVENANCE, exp.Anonymous(this="named_struct", expressions=fields)))
        selects.append(exp.select(*named(columns)).from_(table(table_of(branch), "t")))
    return union_all(selects)


def _union_columns(block: Block) -> list[str]:
    """Return the names of a union's own columns: the outputs of its first branch, by position."""
    return [output.name for output in block.branches[0].outputs]
