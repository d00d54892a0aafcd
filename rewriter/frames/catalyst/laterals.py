"""LATERAL subqueries and table functions of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from rewriter.frames.catalyst.errors import unsupported
from rewriter.frames.catalyst.names import column, fresh, identifier
from rewriter.frames.catalyst.scalars import attribute_id
from rewriter.frames.catalyst.selects import Column, Rows, Stage, unique
from rewriter.frames.catalyst.tree import Node

_GENERATORS = {
    "Explode": "explode",
    "Inline": "inline",
    "JsonTuple": "json_tuple",
    "PosExplode": "posexplode",
    "Stack": "stack",
}


def generator_name(generator: Node) -> str:
    """Return the table function that a generator is.

    Raises
    ------
    UnsupportedError
        For one without a rule.
    """
    name = _GENERATORS.get(generator.kind)
    if name is None:
        raise unsupported(f"the generator {generator.kind} has no rule")
    return name


@dataclass(frozen=True, slots=True)
class LateralCall:
    """The call of a table function beside a relation: its columns are taken of the generator's."""

    generate: Node
    items: tuple[Node, ...]

    def columns(self, names: Sequence[str]) -> tuple[Column, ...]:
        """Return its columns, where those of the generator have these names."""
        made = zip(map(attribute_id, self.generate.many("generatorOutput")), names, strict=True)
        known = dict(made)
        found = []
        for item in self.items:
            inner = item.child if item.kind == "Alias" else item
            scalar = exp.Column(this=identifier(known[attribute_id(inner)]))
            found.append(Column(attribute_id(item), item.fields["name"], scalar))
        return tuple(found)


def lateral_call(plan: Node) -> LateralCall | None:
    """Return the call that the plan of a LATERAL is; None if it is a subquery."""
    plan = _unnamed(plan)
    items = None
    if plan.kind == "Project":
        items, plan = plan.many("projectList"), _unnamed(plan.child)
    if plan.kind != "Generate" or plan.child.kind != "OneRowRelation":
        return None
    items = plan.many("generatorOutput") if items is None else items
    inner = [item.child if item.kind == "Alias" else item for item in items]
    if any(one.kind != "AttributeReference" for one in inner):
        return None
    return LateralCall(plan, items)


def lateral_join(
    left: Rows, lateral: exp.Lateral, columns: Sequence[Column], join: exp.Join
) -> Rows:
    """Return the join of rows with a lateral relation, whose columns are names of its own."""
    alias = fresh("l", left.tables)
    lateral = lateral.copy()
    lateral.set("alias", exp.TableAlias(this=identifier(alias), **_alias_columns(lateral)))
    join.set("this", lateral)
    joins = [*left.select.args.get("joins", ()), join]
    added = tuple(replace(one, scalar=column(alias, one.scalar.name)) for one in columns)
    return replace(left.having("joins", joins, Stage.FROM), columns=left.columns + added)


def subquery_lateral(inner: Rows) -> tuple[exp.Lateral, tuple[Column, ...]]:
    """Return a LATERAL subquery and its columns."""
    if inner.query is None:
        names = unique([one.name for one in inner.columns])
    else:
        names = [one.scalar.name for one in inner.columns]
    pairs = zip(inner.columns, names, strict=True)
    columns = (replace(one, scalar=exp.Column(this=identifier(name))) for one, name in pairs)
    return exp.Lateral(this=exp.Subquery(this=inner.written(names))), tuple(columns)


def call_lateral(written: exp.Expr, names: Sequence[str]) -> exp.Lateral:
    """Return the LATERAL call of a table function whose columns have these names."""
    columns = [identifier(name) for name in names]
    return exp.Lateral(this=written, alias=exp.TableAlias(columns=columns))


def _alias_columns(lateral: exp.Lateral) -> dict[str, list[exp.Expr]]:
    alias = lateral.args.get("alias")
    return {} if alias is None else {"columns": alias.args["columns"]}


def _unnamed(plan: Node) -> Node:
    while plan.kind == "SubqueryAlias":
        plan = plan.child
    return plan
