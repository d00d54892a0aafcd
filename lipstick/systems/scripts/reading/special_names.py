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
    ast.In: ("__contains__", "__iter__"), ast.NotIn: ("__contains__", "__iter__"),
}  # fmt: skip

UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__", ast.Not: "__bool__"}

ITERATION = ("__iter__", "__next__", "__getitem__")
TEXTS = ("__str__", "__repr__", "__format__")
ORDER = ("__lt__", "__gt__", "__eq__")
HASHING = ("__hash__", "__eq__")
OTHERS = (*ITERATION, *TEXTS, *ORDER, "__hash__", "__len__", "__bool__", "__add__", "__radd__")

BUILT_IN: dict[str, tuple[str, ...]] = {
    "len": ("__len__",), "str": TEXTS, "repr": TEXTS, "format": TEXTS, "print": TEXTS,
    "hash": ("__hash__",), "bool": ("__bool__", "__len__"), "int": ("__int__", "__index__"),
    "float": ("__float__",), "abs": ("__abs__",), "round": ("__round__",),
    "next": ("__next__",), "iter": ITERATION, "list": ITERATION, "tuple": ITERATION,
    "enumerate": ITERATION, "zip": ITERATION, "reversed": ("__reversed__", "__getitem__"),
    "isinstance": (), "issubclass": (), "id": (), "type": (), "vars": (), "getattr": (),
    "hasattr": (), "callable": (), "list.sort": ORDER, "list.index": ("__eq__",),
    "list.count": ("__eq__",), "list.remove": ("__eq__",), "list.append": (), "list.insert": (),
    "list.extend": ITERATION, "list.pop": (), "list.clear": (), "list.reverse": (), "list.copy": (),
}  # fmt: skip
"""The special methods that built-in functions and methods call, by name of the caller."""


def special_names(node: ast.AST) -> tuple[str, ...]:
    """The special methods that evaluating or running a node itself may call."""
    match node:
        case ast.Subscript(ctx=ast.Load()):
            return ("__getitem__",)
        case ast.Subscript(ctx=ast.Store()):
            return ("__setitem__",)
        case ast.Subscript():
            return ("__delitem__",)
        case ast.BinOp(op=op):
            return (f"__{OPERATORS[type(op)]}__", f"__r{OPERATORS[type(op)]}__")
        case ast.AugAssign(op=op):
            name = OPERATORS[type(op)]
            return (f"__i{name}__", f"__{name}__", f"__r{name}__")
        case ast.Compare(ops=operators):
            return tuple(name for op in operators for name in COMPARISONS.get(type(op), ()))
        case ast.UnaryOp(op=operator):
            return (UNARY[type(operator)],)
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            return ITERATION
        case ast.With() | ast.AsyncWith():
            return ("__enter__", "__exit__")
        case ast.JoinedStr():
            return TEXTS
        case ast.If() | ast.While() | ast.IfExp() | ast.BoolOp():
            return ("__bool__", "__len__")
        case _:
            return ()
