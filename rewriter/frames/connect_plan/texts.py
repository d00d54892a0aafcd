"""Texts in a Connect plan, and plans beside others that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from rewriter.bind.parameters import substitute
from rewriter.dialect import parse
from rewriter.frames.connect_plan.frame import ConnectFrame
from rewriter.frames.connect_plan.scalars import ConnectScalars, Message, kind_of
from rewriter.frames.writing.errors import unsupported
from rewriter.frames.writing.selects import Rows
from rewriter.frames.writing.stated import stated, with_step

if TYPE_CHECKING:
    from rewriter.frames.connect_plan.plans import ConnectPlans


def text(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return what a text has, with literals in place of its parameters."""
    return _stated(plans, message, relation, {})


def with_relations(plans: ConnectPlans, message: Message, relation: Message) -> ConnectFrame:
    """Return a plan beside others that it names: by numbers in expressions, by names in text."""
    root, references = message["root"], message["references"]

    schema_of_alone = plans.schema_of

    def schema_of(part: Message) -> Sequence[tuple[str, Any]]:
        beside = {"root": part, "references": references}
        return schema_of_alone({"common": {}, "with_relations": beside})

    numbered = {int(reference["common"]["plan_id"]): reference for reference in references}
    plans = plans.beside(schema_of, numbered)
    if kind_of(root) != "sql":
        return plans.frame(root)
    aliases = [reference["subquery_alias"] for reference in references]
    named = {subquery["alias"]: plans.frame(subquery["input"]).rows for subquery in aliases}
    return _stated(plans, root["sql"], root, named)


def _stated(
    plans: ConnectPlans, message: Message, relation: Message, named: Mapping[str, Rows]
) -> ConnectFrame:
    """Write a text as it is; ``named`` are the rows of other frames that it reads by names."""
    names = plans.names_of(relation)
    if len({name.lower() for name in names}) < len(names):
        raise unsupported("a text has several columns of one name", "Give them names of their own.")
    query, values = parse(message["query"]), _arguments(message)
    if values:
        query = substitute(query, values, sql=message["query"])
    for name, rows in named.items():
        query = with_step(query, name, plans.steps.finished(rows).written())
    return plans.made(stated(query, plans.numbered(names)))


def _arguments(message: Message) -> Mapping[str, exp.Expr] | Sequence[exp.Expr]:
    """Return the values of the parameters of a text: by name, or in order."""
    named = {name: {"literal": value} for name, value in message.get("args", {}).items()}
    named |= message.get("named_arguments", {})
    placed = [{"literal": value} for value in message.get("pos_args", [])]
    placed += message.get("pos_arguments", [])
    return {name: _argument(value) for name, value in named.items()} or [*map(_argument, placed)]


def _argument(message: Message) -> exp.Expr:
    """Return the value of a parameter; a decimal has the type of its digits."""
    number = message.get("literal", {}).get("decimal")
    if number is not None:
        message = {"literal": {"decimal": {"value": number["value"]}}}
    return ConnectScalars(ConnectFrame(Rows((), exp.Select()))).write(message)
