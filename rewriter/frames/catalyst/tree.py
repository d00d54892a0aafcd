"""Catalyst plans as data: the nodes of the trees that ``TreeNode.toJSON`` writes.

A tree is a list of its nodes in pre-order, each an object with its class, its number of children,
and the parameters of its constructor. A parameter that is a child is the number of the child; an
expression of an operator, or a plan inside an expression, is a tree of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class PlanNode:
    """An operator or an expression."""

    kind: str
    """The name of its class, without the package."""
    fields: dict[str, Any]
    children: tuple[PlanNode, ...]

    @property
    def name(self) -> str:
        """The name of the column that it is."""
        return str(self.fields["name"])

    @property
    def child(self) -> PlanNode:
        """The only child."""
        (child,) = self.children
        return child

    def one(self, name: str) -> PlanNode | None:
        """Return a parameter that is a node, or None if it has none."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return self.children[value]
        return tree(value) if isinstance(value, list) and is_tree(value) else None

    def required(self, name: str) -> PlanNode:
        """Return a parameter that is a node."""
        child = self.one(name)
        assert child is not None, f"{self.kind} has no {name}"
        return child

    def many(self, name: str) -> tuple[PlanNode, ...]:
        """Return a parameter that is a sequence of nodes."""
        values = self.fields.get(name) or []
        return tuple(self.children[v] if isinstance(v, int) else tree(v) for v in values)

    def option(self, name: str) -> str:
        """Return the name of a parameter that is an object of Scala: ``Inner``, ``Ascending``."""
        value = self.fields.get(name)
        option_name = (
            value.get("object") or value.get("product-class") if isinstance(value, dict) else ""
        )
        return class_name(option_name or "")

    @cached_property
    def nested(self) -> tuple[PlanNode, ...]:
        """The trees among the parameters, in order, without the children."""
        return tuple(_nested(list(self.fields.values())))

    def walk(self) -> Iterator[PlanNode]:
        """Yield this node and every node below, also of nested trees."""
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += [*node.children, *node.nested]


def tree(nodes: Sequence[dict[str, Any]]) -> PlanNode:
    """Return the tree of nodes in pre-order."""
    waiting: list[PlanNode] = []
    for document in reversed(nodes):
        fields = dict(document)
        count = fields.pop("num-children")
        children = tuple(waiting.pop() for _ in range(count))
        waiting.append(PlanNode(class_name(fields.pop("class")), fields, children))
    (root,) = waiting
    return root


def is_tree(values: Sequence[Any]) -> bool:
    """Return True if the values of a parameter are the nodes of a tree."""
    return bool(values) and isinstance(values[0], dict) and "num-children" in values[0]


def class_name(name: str) -> str:
    """Return the last part of a class's name, of an object without its ``$``."""
    return name.rstrip("$").rpartition(".")[2].rpartition("$")[2]


def _nested(values: Sequence[Any]) -> Iterator[PlanNode]:
    for value in values:
        if isinstance(value, list):
            if is_tree(value):
                yield tree(value)
            else:
                yield from _nested(value)
        elif isinstance(value, dict) and "product-class" in value:
            yield from _nested(list(value.values()))
