"""Comprehensions: loops inside of an expression, with names of their own."""

from __future__ import annotations

import ast
from typing import TypeAlias

from lipstick.systems.scripts.reading.assign import assign, element_of
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.loops import repeated
from lipstick.systems.scripts.reading.names import assigned_names
from lipstick.systems.scripts.reading.opaque import advance, is_used_up
from lipstick.systems.scripts.reading.special import iterated, next_of
from lipstick.systems.scripts.reading.values import NO_REGIONS, PLAIN_KINDS, Function, Lazy, Value

Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_FORMS: dict[type[ast.expr], tuple[str, str]] = {
    ast.ListComp: ("[for]", "list"),
    ast.SetComp: ("{for}", "set"),
    ast.DictComp: ("{:for}", "dict"),
    ast.GeneratorExp: ("(for)", ""),
}


def comprehension(context: Context, node: Comprehension) -> Value:
    """Add a comprehension: a PE that depends on what it goes over, its conditions and results."""
    name, kind = _FORMS[type(node)]
    scope = context.fresh()
    outer = context.frame
    targets = assigned_names(generator.target for generator in node.generators)
    inner = Frame((scope, *outer.scopes), outer.file, targets, outer.function)
    inner.exits, inner.yields, inner.around = outer.exits, outer.yields, outer
    inner.loop_base, inner.path_base, inner.mark = outer.loop_base, outer.path_base, outer.mark
    inputs: list[Value] = []
    results: list[Value] = []
    used_up: list[Value] = []

    def body() -> None:
        depth = len(context.guards)
        for generator in node.generators:
            over = iterated(context, context.evaluate(context, generator.iter))
            inputs.append(over)
            if is_used_up(context, over):
                inputs.append(advance(context, over, name))
                used_up.append(over)
            item = next_of(context, over)
            if item is None:
                item = element_of(context, over)
            else:
                inputs.append(item)
            assign(context, generator.target, item, "for")
            for condition in generator.ifs:
                test = context.evaluate(context, condition)
                inputs.append(test)
                context.guards.append(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        results.extend(context.evaluate(context, part) for part in parts)
        del context.guards[depth:]

    context.frames.append(inner)
    if _may_change(context, node):
        repeated(context, name, body, assigned_names([node]))
    else:
        body()
    context.frames.pop()
    context.closed_scopes.add(scope)
    for value in results:
        context.escape(value)
    results = [context.as_object(value) for value in results]
    region = context.region(name)
    context.divide(region)
    inside = frozenset().union(*(value.regions for value in results)) if results else NO_REGIONS
    context.keep([region], inside)
    if all(value.kind in PLAIN_KINDS for value in results) and inside <= context.plain:
        context.plain.add(region)
    result = context.operate(
        name, "comprehension", [*inputs, *results], kind, frozenset([region]), ratio="n:n"
    )
    if not isinstance(node, ast.GeneratorExp):
        for over in used_up:
            context.change(over.regions, Value(result.refs))
        return result
    nothing = ast.arguments([], [], None, [], [], None, [])
    text = ast.copy_location(ast.Lambda(nothing, node), node)
    function = Function(text, name, outer.file, outer.scopes, result.refs[0][0])
    context.generators[region] = function
    return Value(result.refs, result.regions, kind, Lazy(function))


def _may_change(context: Context, node: Comprehension) -> bool:
    """Whether an iteration may change what a later one reads."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.NamedExpr | ast.Yield | ast.YieldFrom):
            return True
        if isinstance(inner, ast.Call):
            match inner.func:
                case ast.Name(id=name):
                    fact = context.facts.facts.get(name)
                case ast.Attribute(attr=name):
                    fact = context.facts.by_name(name)
                case _:
                    return True
            if fact is None or fact.changes_given(inner):
                return True
    return False
