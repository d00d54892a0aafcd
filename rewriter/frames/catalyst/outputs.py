"""The attributes of an operator, and the attributes that the operators above it use."""

from __future__ import annotations

from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.tree import PlanNode

_SEMI = ("LeftSemi", "LeftAnti")
_COMPARED = ("CTERelationDef", "Distinct", "Except", "Intersect", "Union")
"""Operators to which every column matters."""


def output(node: PlanNode) -> tuple[int, ...]:
    """Return the expression ids of an operator's columns, in order."""
    known = node.fields.get("tracked") or node.fields.get("stated")
    if known is not None:
        return tuple(number for number, _ in known["columns"])
    match node.kind:
        case "Project":
            return tuple(map(attribute_id, node.many("projectList")))
        case "Aggregate":
            return tuple(map(attribute_id, node.many("aggregateExpressions")))
        case "Window":
            added = tuple(map(attribute_id, node.many("windowExpressions")))
            return output(node.children[0]) + added
        case "Generate":
            added = tuple(map(attribute_id, node.many("generatorOutput")))
            return output(node.children[0]) + added
        case "Expand":
            return tuple(map(attribute_id, node.many("output")))
        case "LateralJoin":
            return output(node.children[0]) + output(node.required("right").required("plan"))
        case "WithCTE":
            return output(node.required("plan"))
        case "Join" if node.option("joinType") not in _SEMI:
            return output(node.children[0]) + output(node.children[1])
    if node.children:
        return output(node.children[0])
    return tuple(map(attribute_id, node.many("output")))


def needed(root: PlanNode) -> frozenset[int]:
    """Return the attributes that any expression of a plan uses, or its answer."""
    used_ids = set(output(root))
    todo = [root]
    while todo:
        node = todo.pop()
        if not node.fields.keys() & {"stated", "tracked"} and node.children:
            todo += node.children
            used_ids |= used(node)
    return frozenset(used_ids)


def used(node: PlanNode) -> set[int]:
    """Return the attributes that matter to an operator, whatever the operators above it use."""
    ids = set[int]()
    if node.kind in _COMPARED:
        for child in node.children:
            ids.update(output(child))
    expressions = node.nested
    if node.kind == "Project":
        expressions = tuple(item for item in expressions if item.kind != "AttributeReference")
    elif node.kind == "Generate":
        expressions = tuple(
            generator for generator in (node.one("generator"),) if generator is not None
        )
    return ids.union(*map(references, expressions))


def references(expression: PlanNode) -> frozenset[int]:
    """Return the attributes that an expression uses."""
    return frozenset(
        attribute_id(node) for node in expression.walk() if node.kind == "AttributeReference"
    )
