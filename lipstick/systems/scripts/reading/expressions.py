"""Expressions and operators: what each kind of them adds to the initial graph."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from lipstick.systems.scripts.facts import PLAIN
from lipstick.systems.scripts.model import NodeKind
from lipstick.systems.scripts.reading.assign import assign, element_of, kind_inside
from lipstick.systems.scripts.reading.calls import attribute, call
from lipstick.systems.scripts.reading.context import Context
from lipstick.systems.scripts.reading.frames import Frame
from lipstick.systems.scripts.reading.loops import repeated
from lipstick.systems.scripts.reading.names import assigned_names, read_name
from lipstick.systems.scripts.reading.opaque import advance, is_used_up
from lipstick.systems.scripts.reading.special import (
    binary_method,
    call_method,
    compared,
    converted,
    gone_over,
    hashed,
    iterated,
    next_of,
    text_of,
    truth_of,
    unary_method,
)
from lipstick.systems.scripts.reading.special_names import INDEX, MAPPING, NUMBER, TEXTS
from lipstick.systems.scripts.reading.values import (
    COPIED,
    IMMUTABLE,
    MISSING,
    NO_REGIONS,
    NOTHING,
    PLAIN_KINDS,
    Lazy,
    PyFunction,
    PyValue,
    regions_of,
)

_SIGNS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|",
    ast.BitXor: "^", ast.BitAnd: "&", ast.And: "and", ast.Or: "or", ast.Not: "not",
    ast.UAdd: "+", ast.USub: "-", ast.Invert: "~", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<",
    ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in",
    ast.NotIn: "not in",
}  # fmt: skip

_ARITHMETIC = (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
"""Operators whose results hold no parts of their operands."""

FRAMES = ("frame", "sparkframe", "column", "sparkcolumn", "array")


def sign(operator: ast.AST) -> str:
    """Return the sign of an operator, as it is written."""
    return _SIGNS[type(operator)]


def binary(context: Context, op: ast.operator, left: PyValue, right: PyValue, how: str) -> PyValue:
    """Add an operation of two values."""
    result = binary_method(context, op, left, right)
    if result is not None:
        return result
    if isinstance(op, ast.Mod) and left.kind != "number":
        right = converted(context, right, (*TEXTS, *NUMBER), "%")
    elif isinstance(op, ast.Mult):
        left, right = (converted(context, value, INDEX, "*") for value in (left, right))
    kind = _kind_of(op, left.kind, right.kind)
    regions = NO_REGIONS
    if kind not in IMMUTABLE and kind not in FRAMES:
        # Of lists the result holds the same elements.
        if both := left.regions | right.regions:
            region = context.region(sign(op))
            context.divide(region)
            if not isinstance(op, _ARITHMETIC):
                context.keep([region], context.inside(both))
            if {left.kind, right.kind} <= PLAIN_KINDS and both <= context.plain:
                context.plain.add(region)
                kind = kind or PLAIN
            regions = frozenset([region])
    elif kind in COPIED:
        regions = frozenset([context.region(sign(op))])
    value = context.operate(sign(op), how, (left, right), kind, regions, ratio="1:1")
    return replace(value, const=_folded(op, left.const, right.const))


def _kind_of(op: ast.operator, left: str, right: str) -> str:
    for kind in FRAMES:
        if kind in (left, right):
            return kind
    if left == "path" and isinstance(op, ast.Div):
        return "path"
    if left == "text" and isinstance(op, ast.Add | ast.Mod | ast.Mult):
        return "text"
    return left if left == right else ""


def _folded(op: ast.operator, left: Any, right: Any) -> Any:
    """The text that two texts make, so that names of files are known."""
    if isinstance(left, str) and isinstance(right, str):
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Div):
            return f"{left.rstrip('/')}/{right}"
    return MISSING


Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_FORMS: dict[type[ast.expr], tuple[str, str]] = {
    ast.ListComp: ("[for]", "list"),
    ast.SetComp: ("{for}", "set"),
    ast.DictComp: ("{:for}", "dict"),
    ast.GeneratorExp: ("(for)", ""),
}


@dataclass(slots=True)
class _Read:
    """The values that the body of a comprehension reads.

    Attributes
    ----------
    inputs
        What it goes over, and its conditions.
    used_up
        The iterators that it goes over.
    """

    context: Context
    node: Comprehension
    name: str
    inputs: list[PyValue] = field(default_factory=list)
    results: list[PyValue] = field(default_factory=list)
    used_up: list[PyValue] = field(default_factory=list)

    def body(self) -> None:
        """Read the body once."""
        context, node = self.context, self.node
        depth = len(context.guards)
        for generator in node.generators:
            over = iterated(context, context.evaluate(context, generator.iter))
            self.inputs.append(over)
            if is_used_up(context, over):
                self.inputs.append(advance(context, over, self.name))
                self.used_up.append(over)
            item = next_of(context, over)
            if item is None:
                item = element_of(context, over)
            else:
                self.inputs.append(item)
            assign(context, generator.target, item, "for")
            for condition in generator.ifs:
                test = truth_of(context, context.evaluate(context, condition))
                self.inputs.append(test)
                context.guards.append(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [context.evaluate(context, part) for part in parts]
        if isinstance(node, ast.DictComp | ast.SetComp):
            self.inputs.extend(hashed(context, values[:1]))
        self.results.extend(values)
        del context.guards[depth:]


def _inner_frame(context: Context, node: Comprehension) -> Frame:
    """Return the frame of a comprehension, which has its targets and is left as the one around."""
    outer = context.frame
    targets = assigned_names(generator.target for generator in node.generators)
    inner = Frame((context.fresh(), *outer.scopes), outer.file, targets, outer.function)
    inner.exits, inner.yields, inner.around = outer.exits, outer.yields, outer
    inner.loop_base, inner.path_base, inner.mark = outer.loop_base, outer.path_base, outer.mark
    return inner


def comprehension(context: Context, node: Comprehension) -> PyValue:
    """Add a comprehension: a PE that depends on what it goes over, its conditions and results."""
    name, kind = _FORMS[type(node)]
    outer = context.frame
    read = _Read(context, node, name)
    context.frames.append(_inner_frame(context, node))
    if _may_change(context, node):
        repeated(context, name, read.body, assigned_names([node]))
    else:
        read.body()
    context.closed_scopes.add(context.frames.pop().scopes[0])
    results = _as_objects(context, read.results)
    region = _holder(context, name, results)
    result = context.operate(
        name, "comprehension", [*read.inputs, *results], kind, frozenset([region]), ratio="n:n"
    )
    if not isinstance(node, ast.GeneratorExp):
        for over in read.used_up:
            context.change(over.regions, PyValue(result.refs))
        return result
    nothing = ast.arguments([], [], None, [], [], None, [])
    text = ast.copy_location(ast.Lambda(nothing, node), node)
    function = PyFunction(text, name, outer.file, outer.scopes, result.refs[0][0])
    context.generators[region] = function
    return PyValue(result.refs, result.regions, kind, Lazy(function))


def _may_change(context: Context, node: Comprehension) -> bool:
    """Return True if an iteration may change what a later one reads."""
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


_CONSTANT_KINDS = {str: "text", bytes: "bytes", bool: "number", int: "number", float: "number",
                   complex: "number", type(None): "none"}  # fmt: skip
_LONG = 64
"""The most items of a collection whose constants are each a value of their own."""


def evaluate(context: Context, node: ast.expr) -> PyValue:
    """Add what an expression computes, and return what is known of its value."""
    return _EXPRESSIONS[type(node)](context, node)


def gathered(values: Iterable[PyValue]) -> PyValue:
    """One value that depends on several, and may be any of them or hold them."""
    values = list(values)
    refs = dict.fromkeys(ref for value in values for ref in value.refs)
    return PyValue(tuple(refs), regions_of(values))


def _constant(context: Context, node: ast.Constant) -> PyValue:
    kind = _CONSTANT_KINDS.get(type(node.value), "")
    constant = context.node(
        NodeKind.CONSTANT,
        repr(node.value)[:60],
        "constant",
        value=node.value,
        type=type(node.value).__name__,
    )
    return PyValue(((constant.id, None, None),), kind=kind, const=node.value)


def _name(context: Context, node: ast.Name) -> PyValue:
    return read_name(context, node.id)


def _binary(context: Context, node: ast.BinOp) -> PyValue:
    left, right = evaluate(context, node.left), evaluate(context, node.right)
    return binary(context, node.op, left, right, "binary")


def _unary(context: Context, node: ast.UnaryOp) -> PyValue:
    value = evaluate(context, node.operand)
    called = None
    if isinstance(node.op, ast.Not):
        value = truth_of(context, value)
    else:
        called = call_method(context, value, unary_method(node.op))
    if called is not None:
        return called
    regions = frozenset([context.region(sign(node.op))]) if value.regions else NO_REGIONS
    const: Any = MISSING
    if isinstance(node.op, ast.USub) and isinstance(value.const, int | float):
        const = -value.const
    kind = "number" if isinstance(node.op, ast.Not) else value.kind
    value = context.operate(sign(node.op), "unary", [value], kind, regions, ratio="1:1")
    return replace(value, const=const)


def _boolean(context: Context, node: ast.BoolOp) -> PyValue:
    values = [evaluate(context, node.values[0])]
    depth = len(context.guards)
    for operand in node.values[1:]:
        context.guards.append(values[-1])
        values.append(evaluate(context, operand))
    del context.guards[depth:]
    values = [context.as_object(value) for value in values]
    whole = gathered(values)
    return context.operate(sign(node.op), "boolean", values, "", whole.regions, ratio="1:1")


def _compare(context: Context, node: ast.Compare) -> PyValue:
    values = [evaluate(context, operand) for operand in (node.left, *node.comparators)]
    kinds = [value.kind for value in values]
    kind = next((kind for kind in FRAMES if kind in kinds), "number")
    name = " ".join(sign(op) for op in node.ops)
    regions = frozenset([context.region(name)]) if kind in COPIED else NO_REGIONS
    used_up = []
    for op, left, right in zip(node.ops, values[:-1], values[1:], strict=True):
        values += compared(context, op, left, right)
        if isinstance(op, ast.In | ast.NotIn) and is_used_up(context, right):
            values.append(advance(context, right, "in"))
            used_up.append(right)
    result = context.operate(name, "comparison", values, kind, regions, ratio="1:1")
    for right in used_up:
        context.change(right.regions, result)
    return result


def _conditional(context: Context, node: ast.IfExp) -> PyValue:
    test = truth_of(context, evaluate(context, node.test))
    context.guards.append(test)
    values = [evaluate(context, node.body), evaluate(context, node.orelse)]
    context.guards.pop()
    values = _as_objects(context, values)
    kind = values[0].kind if values[0].kind == values[1].kind else ""
    regions = values[0].regions | values[1].regions
    return context.operate("if else", "conditional", [test, *values], kind, regions, ratio="1:1")


def _sequence(context: Context, node: ast.List | ast.Tuple | ast.Set) -> PyValue:
    kind = {ast.List: "list", ast.Tuple: "tuple", ast.Set: "set"}[type(node)]
    values = _items(context, node.elts)
    if kind == "set":
        values += hashed(context, values)
    return held(context, {"list": "[]", "tuple": "()", "set": "{}"}[kind], values, kind)


def _items(context: Context, nodes: Sequence[ast.expr]) -> list[PyValue]:
    """Evaluate the items of a collection; of a long one all constants are one value."""
    if len(nodes) <= _LONG:
        return [evaluate(context, node) for node in nodes]
    kinds: dict[str, None] = {}
    values = []
    count = 0
    for node in nodes:
        kind = _constant_kind(node)
        if kind is None:
            values.append(evaluate(context, node))
        else:
            kinds[kind] = None
            count += 1
    if count:
        name = f"{count:,} constants"
        constants = context.node(NodeKind.CONSTANT, name, "constant", value=name)
        kind = next(iter(kinds)) if len(kinds) == 1 else "data"
        values.append(PyValue(((constants.id, None, None),), kind=kind))
    return values


def _constant_kind(node: ast.expr) -> str | None:
    """Return the kind of a constant, a number with a sign or a tuple of these; None for others."""
    if isinstance(node, ast.Constant):
        return _CONSTANT_KINDS.get(type(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return "number" if _constant_kind(node.operand) == "number" else None
    if isinstance(node, ast.Tuple) and all(_constant_kind(item) for item in node.elts):
        return "tuple"
    return None


def held(context: Context, name: str, values: list[PyValue], kind: str) -> PyValue:
    """Add a new object that holds some values."""
    values = _as_objects(context, values)
    if kind == "tuple" and not regions_of(values):
        return context.operate(name, "display", values, kind)
    regions = frozenset([_holder(context, name, values)])
    return context.operate(name, "display", values, kind, regions)


def _as_objects(context: Context, values: list[PyValue]) -> list[PyValue]:
    """Return values as objects that others may hold."""
    for value in values:
        context.escape(value)
    return [context.as_object(value) for value in values]


def _holder(context: Context, name: str, values: list[PyValue]) -> int:
    """Return the region of a new object that holds some values."""
    region, inside = context.region(name), regions_of(values)
    context.divide(region)
    context.keep([region], inside)
    if all(value.kind in PLAIN_KINDS for value in values) and inside <= context.plain:
        context.plain.add(region)
    return region


def _dict(context: Context, node: ast.Dict) -> PyValue:
    keys = _items(context, [key for key in node.keys if key is not None])
    values = _items(context, node.values)
    if None in node.keys:
        values = [converted(context, value, MAPPING, "**") for value in values]
    values += hashed(context, keys)
    return held(context, "{:}", [*keys, *values], "dict")


def _subscript(context: Context, node: ast.Subscript) -> PyValue:
    base, index = evaluate(context, node.value), evaluate(context, node.slice)
    return element(context, base, index, node.slice)


def element(context: Context, base: PyValue, index: PyValue, text: ast.expr) -> PyValue:
    """Add what is at an index of a value."""
    called = call_method(context, base, "__getitem__", [index])
    if called is not None:
        return called
    inserting = context.alike(base.regions) & context.inserting
    if inserting:
        # A key that a `defaultdict` does not have is added.
        context.change(inserting, context.operate("[ ]", "insert", [base, index, *context.guards]))
        base = context.filled(base)
    hashed(context, [index])
    index = converted(context, index, INDEX, "[ ]")
    kind = context.facts.elements.get(base.kind, "")
    if base.kind in ("frame", "column") and not isinstance(text, ast.Constant):
        kind = base.kind if index.kind in ("column", "array", "list", "frame") else ""
        kind = "frame" if isinstance(text, ast.List) else kind
    if isinstance(text, ast.Slice):
        kind = base.kind
    regions = base.regions if base.kind in COPIED or kind == base.kind else NO_REGIONS
    if not (regions and kind) and kind not in IMMUTABLE:
        # What an index of an unknown object gives may also be a view of it.
        regions |= context.inside(base.regions)
    kind = kind or kind_inside(context, base, regions)
    item = context.operate("[ ]", "subscript", [base, index], kind, regions, ratio="1:1")
    return PyValue(item.refs, regions, kind, cls=context.class_of(regions))


def _slice(context: Context, node: ast.Slice) -> PyValue:
    parts = [part for part in (node.lower, node.upper, node.step) if part is not None]
    values = (converted(context, evaluate(context, part), INDEX, ":") for part in parts)
    return PyValue(gathered(values).refs)


def _joined(context: Context, node: ast.JoinedStr) -> PyValue:
    values = [evaluate(context, part) for part in node.values]
    texts = [value.const for value in values]
    known = bool(values) and all(isinstance(text, str) for text in texts)
    const = "".join(texts) if known else MISSING
    return replace(context.operate("f''", "format", values, "text", ratio="1:1"), const=const)


def _formatted(context: Context, node: ast.FormattedValue) -> PyValue:
    value = text_of(context, evaluate(context, node.value))
    spec = [evaluate(context, node.format_spec)] if node.format_spec is not None else []
    plain = not spec and node.conversion == -1 and isinstance(value.const, str | int)
    refs = gathered([value, *spec]).refs
    return PyValue(refs, kind="text", const=str(value.const) if plain else MISSING)


def _lambda(context: Context, node: ast.Lambda) -> PyValue:
    defaults = [*node.args.defaults, *(item for item in node.args.kw_defaults if item)]
    defined = context.operate(
        "lambda", "definition", [evaluate(context, item) for item in defaults]
    )
    frame = context.frame
    function = PyFunction(node, "lambda", frame.file, frame.scopes, defined.refs[0][0])
    return PyValue(defined.refs, target=function)


def _named(context: Context, node: ast.NamedExpr) -> PyValue:
    value = evaluate(context, node.value)
    assign(context, node.target, value)
    return read_name(context, node.target.id)


def _starred(context: Context, node: ast.Starred) -> PyValue:
    return gone_over(context, evaluate(context, node.value), "*")


def _await(context: Context, node: ast.Await) -> PyValue:
    value = evaluate(context, node.value)
    # What a call returns that is awaited at once has been read at its place.
    return value if isinstance(node.value, ast.Call) else advance(context, value, "await")


def _yield(context: Context, node: ast.Yield | ast.YieldFrom) -> PyValue:
    value = NOTHING if node.value is None else evaluate(context, node.value)
    if isinstance(node, ast.YieldFrom):
        value = gone_over(context, value, "yield from")
    yielded = context.operate("yield", "yield", [value, *context.guards])
    context.frame.yields.append(PyValue(yielded.refs, value.regions))
    return PyValue(value.refs)


_Handler: TypeAlias = Callable[[Context, Any], PyValue]

_EXPRESSIONS: dict[type[ast.expr], _Handler] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.Call: call,
    ast.Attribute: attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.FormattedValue: _formatted,
    ast.Lambda: _lambda,
    ast.ListComp: comprehension,
    ast.SetComp: comprehension,
    ast.DictComp: comprehension,
    ast.GeneratorExp: comprehension,
    ast.NamedExpr: _named,
    ast.Starred: _starred,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
