"""The names of the special methods that operators, statements and built-in functions call."""

from __future__ import annotations

import ast

OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.MatMult: "matmul", ast.LShift: "lshift",
    ast.RShift: "rshift", ast.BitOr: "or", ast.BitXor: "xor", ast.BitAnd: "and",
}  # fmt: skip

COMPARISONS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Eq: ("__eq__",), ast.NotEq: ("__ne__", "__eq__"), ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"), ast.Gt: ("__gt__", "__lt__"), ast.GtE: ("__ge__", "__le__"),
    ast.In: ("__contains__", "__iter__", "__getitem__"),
    ast.NotIn: ("__contains__", "__iter__", "__getitem__"),
}  # fmt: skip

UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}

ITERATION = ("__iter__", "__next__", "__getitem__")
TEXTS = ("__str__", "__repr__", "__format__")
ORDER = ("__lt__", "__gt__", "__le__", "__ge__", "__eq__")
HASHING = ("__hash__", "__eq__")
TRUTH = ("__bool__", "__len__")
INDEX = ("__index__",)
NUMBER = ("__int__", "__index__", "__float__", "__complex__", "__trunc__")
MAPPING = ("keys", "items", "__getitem__")
ARITHMETIC = tuple(f"__{side}{name}__" for name in OPERATORS.values() for side in ("", "r", "i"))
OTHERS = (
    *ITERATION, *TEXTS, *ORDER, *TRUTH, *NUMBER, *ARITHMETIC, *UNARY.values(), "__hash__",
    "__contains__", "__call__", "__abs__", "__round__", "__floor__", "__ceil__", "__reversed__",
    "__divmod__", "__rdivmod__", "__copy__", "__deepcopy__", "__reduce__", "__getstate__",
    "__fspath__", "__bytes__", "__enter__", "__exit__", "__setitem__", "__delitem__", "keys",
    "items",
)  # fmt: skip
"""The special methods that a function of a library may call."""

BUILT_IN: dict[str, tuple[str, ...]] = {
    "len": ("__len__",), "str": TEXTS, "repr": TEXTS, "format": TEXTS, "print": TEXTS,
    "hash": ("__hash__",), "bool": TRUTH, "int": NUMBER, "float": NUMBER, "complex": NUMBER,
    "range": NUMBER, "abs": ("__abs__",), "round": ("__round__",),
    "next": ("__next__",), "iter": ITERATION, "list": ITERATION, "tuple": ITERATION,
    "enumerate": ITERATION, "zip": ITERATION, "reversed": ("__reversed__", "__getitem__"),
    "isinstance": (), "issubclass": (), "id": (), "type": (), "vars": (), "getattr": (),
    "hasattr": (), "callable": (), "list.sort": ORDER, "list.index": ("__eq__",),
    "list.count": ("__eq__",), "list.remove": ("__eq__",), "list.append": (), "list.insert": (),
    "list.extend": ITERATION, "list.pop": (), "list.clear": (), "list.reverse": (), "list.copy": (),
    "dict.get": HASHING, "dict.pop": HASHING, "dict.setdefault": HASHING, "dict.keys": (),
    "dict.values": (), "dict.items": (), "set.add": HASHING, "set.remove": HASHING,
    "set.discard": HASHING,
}  # fmt: skip
"""The special methods that built-in functions and methods call, by name of the caller."""


def called_names(function: str) -> tuple[str, ...]:
    """Return the special methods that a function of Python or a library may call."""
    return BUILT_IN.get(function, OTHERS)


_OF_NODES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Slice: INDEX, ast.Assert: TRUTH, ast.If: TRUTH, ast.While: TRUTH, ast.IfExp: TRUTH,
    ast.BoolOp: TRUTH, ast.For: ITERATION, ast.YieldFrom: ITERATION, ast.JoinedStr: TEXTS,
    ast.comprehension: (*ITERATION, *TRUTH), ast.Match: (*ITERATION, *HASHING),
    ast.AsyncFor: ("__aiter__", "__anext__"), ast.Await: ("__await__",),
    ast.With: ("__enter__", "__exit__"), ast.AsyncWith: ("__aenter__", "__aexit__"),
    ast.Dict: (*HASHING, *MAPPING), ast.Set: HASHING, ast.SetComp: HASHING, ast.DictComp: HASHING,
}  # fmt: skip


def special_names(node: ast.AST) -> tuple[str, ...]:
    """The special methods that evaluating or running a node itself may call."""
    match node:
        case ast.Subscript(ctx=ast.Load()):
            return ("__getitem__", *INDEX)
        case ast.Subscript(ctx=use):
            return ("__setitem__",) if isinstance(use, ast.Store) else ("__delitem__",)
        case ast.BinOp(op=op):
            more = (*TEXTS, *NUMBER) if isinstance(op, ast.Mod) else INDEX
            return (f"__{OPERATORS[type(op)]}__", f"__r{OPERATORS[type(op)]}__", *more)
        case ast.AugAssign(op=op):
            name = OPERATORS[type(op)]
            return (f"__i{name}__", f"__{name}__", f"__r{name}__", "__getitem__")
        case ast.Compare(ops=operators):
            names = [name for op in operators for name in COMPARISONS.get(type(op), ())]
            return (*names, *ORDER, *HASHING, *ITERATION)
        case ast.UnaryOp(op=operator):
            return TRUTH if isinstance(operator, ast.Not) else (UNARY[type(operator)],)
        case ast.Starred() | ast.Tuple(ctx=ast.Store()) | ast.List(ctx=ast.Store()):
            return ITERATION
        case ast.keyword(arg=None):
            return MAPPING
        case _:
            return _OF_NODES.get(type(node), ())
