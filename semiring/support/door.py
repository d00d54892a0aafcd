"""Arguments of public functions, checked against their annotations before anything runs.

:func:`checked` wraps a function, or every public method and the constructor of a class. A value of
another type is an :class:`ArgumentError` that names the parameter, in place of whatever error would
arise from it later, at another place. What annotations do not say (names that there are, ranges)
functions check themselves.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Iterator
from functools import cache, cached_property, wraps
from itertools import chain, repeat
from traceback import walk_tb
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from semiring.errors import ArgumentError, LipstickError, closest
from semiring.support.depth import deeply

T = TypeVar("T")


def checked(target: T) -> T:
    """Return a function that checks its arguments, or a class whose public methods do.

    A call that exhausts Python's recursion limit is repeated where there is more room, see
    :func:`semiring.support.depth.deeply`.

    Raises
    ------
    ArgumentError
        On a call, for a value of another type than its annotation, and for parameters that are
        missing or that there are not.
    """
    if not isinstance(target, type):
        return typing.cast("T", _function(typing.cast("Any", target), bound=False))
    for name, member in list(vars(target).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if inspect.isfunction(member):
            setattr(target, name, _function(member, bound=True))
        elif isinstance(member, classmethod):
            setattr(target, name, classmethod(_function(member.__func__, bound=True)))
        elif isinstance(member, staticmethod):
            setattr(target, name, staticmethod(_function(member.__func__, bound=False)))
        elif isinstance(member, property) and member.fget is not None:
            setattr(target, name, member.getter(_deep(member.fget)))
        elif isinstance(member, cached_property):
            member.func = _deep(member.func)
    return target


def _deep(function: Callable[..., Any]) -> Callable[..., Any]:
    return _function(function, bound=None)


def _function(function: Callable[..., Any], *, bound: bool | None) -> Callable[..., Any]:
    """Return a function that checks its arguments; ``bound`` is None where there are none."""
    if getattr(function, "__isabstractmethod__", False) or hasattr(function, "_checked"):
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not hasattr(_DOOR, "enter"):
            return function(*args, **kwargs)
        try:
            return _DOOR.enter(function, args, kwargs, bound)
        except Exception as error:
            raise _DOOR.shorten(error, function)  # noqa: B904 - the same error

    checking = typing.cast("Any", call)
    checking._checked = True
    checking.__code__ = checking.__code__.replace(co_name=function.__name__)
    return call


class _Door:
    """The switch of checked functions; after unpickling in a worker it is off."""

    def enter(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        bound: bool | None,
    ) -> Any:
        """Check the arguments of a call and make it."""
        if bound is not None:
            problem = _problem(function, args, kwargs, bound=bound)
            if problem is not None:
                raise ArgumentError(problem)
        try:
            return deeply(function, *args, **kwargs)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            if bound is None or isinstance(error, LipstickError):
                raise
            problem = _problem(function, args, kwargs, bound=bound, inside=True)
            if problem is None:
                raise
            raise ArgumentError(problem) from error

    def shorten(self, error: Exception, function: Callable[..., Any]) -> Exception:
        """Return an error without the calls of ours that led to it.

        Of an error that is raised on purpose, the message has everything; a cause is shown as far
        as it has code of the user's own.
        """
        if not isinstance(error, LipstickError) or error.is_defect or _SHOW_ALL in os.environ:
            trace = error.__traceback__
            while trace is not None and trace.tb_frame.f_code is not function.__code__:
                trace = trace.tb_next
            return error.with_traceback(trace or error.__traceback__)
        if error.__cause__ is None or not _has_others_code(error.__cause__):
            error.__cause__, error.__suppress_context__ = None, True
        return error.with_traceback(None)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers get functions by value, and have neither this module nor users.
        return types.SimpleNamespace, ()


_DOOR = _Door()

_SHOW_ALL = "LIPSTICK_TRACEBACK"
"""Environment variable with which errors keep all calls of ours, for who mends them."""

_LIBRARIES = frozenset(
    {
        *("benchmark_workflowgen", "graphquery", "lipstick", "rewriter", "semiring"),
        *("numpy", "py4j", "pyarrow", "pyspark", "sqlglot", "yaml"),
    }
)
_PYTHON = sys.stdlib_module_names


def _has_others_code(error: BaseException) -> bool:
    """Return True if an error passed through code that is neither ours nor a library's."""
    modules = (str(frame.f_globals.get("__name__")) for frame, _ in walk_tb(error.__traceback__))
    return any(module.partition(".")[0] not in _LIBRARIES | _PYTHON for module in modules)


def _problem(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    bound: bool,
    inside: bool = False,
) -> str | None:
    """Return what is wrong with the arguments of a call; None: nothing."""
    signature, hints = _signature(function)
    called = _called(function, args[0] if bound and args else None)
    parameters = signature.parameters
    if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
        for name in kwargs.keys() - parameters.keys():
            known = [each for each in parameters if not (bound and each == next(iter(parameters)))]
            return f"{called} has no parameter {name!r}.\n{closest(name, known)}"
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        return f"{called}: {error}.\nIt is called {called}{_shown(signature)}."
    for number, (name, value) in enumerate(given.items()):
        if bound and number == 0:
            continue
        parameter = parameters[name]
        values = {name: value}
        if parameter.kind is parameter.VAR_POSITIONAL:
            values = {f"{name}[{place}]": each for place, each in enumerate(value)}
        elif parameter.kind is parameter.VAR_KEYWORD:
            values = value
        hint = hints.get(name, Any)
        for each_name, each in values.items():
            if each is not parameter.default and not fits(each, hint, inside):
                return f"{called}: {each_name} is {_value(each)}.\n{_advice(hint, each)}"
    return None


@cache
def _signature(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Return the signature of a function, and its annotations as types."""
    signature = inspect.signature(function)
    names = _Names(inspect.unwrap(function).__globals__)
    hints = {
        name: _resolved(parameter.annotation, names)
        for name, parameter in signature.parameters.items()
        if parameter.annotation is not parameter.empty
    }
    return signature, hints


class _Names(dict[str, Any]):
    """The names of a module, with the ones that it imports for type checkers only.

    If such a module is not imported otherwise, no value can be of its types: its names stand for
    Any.
    """

    def __missing__(self, name: str) -> Any:
        module, attribute = _imported_for_checkers(self["__name__"]).get(name, ("builtins", name))
        return getattr(sys.modules.get(module), attribute, Any)


@cache
def _imported_for_checkers(module: str) -> dict[str, tuple[str, str]]:
    """Return the names under ``if TYPE_CHECKING:``, each with its module and its name there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, KeyError):
        return {}
    blocks = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in imports
        for alias in node.names
    }


def _resolved(annotation: Any, names: _Names) -> Any:
    try:
        while isinstance(annotation, str):  # an alias may be text again
            annotation = eval(annotation, {"__builtins__": {}}, names)
    except (TypeError, NameError):
        return Any  # such as Any["..."], of a name that is not known
    bound = annotation.__bound__ if isinstance(annotation, TypeVar) else None
    return annotation if bound is None else bound


def fits(value: Any, hint: Any, inside: bool = False) -> bool:
    """Return True if a value has the type of an annotation.

    A collection may compute its elements when it is asked for them. They are looked at only for
    ``inside``, of a call that has failed, and of Python's own collections. A str is not a sequence
    of str, a bool no number, and integers are numbers.
    """
    if hint is None:
        return value is None
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return any(fits(value, each, inside) for each in inner)
    if kind is Literal:
        return any(type(value) is type(each) and value == each for each in inner)
    if kind is Any or not isinstance(kind, type):
        return True
    if kind.__module__.startswith("pyspark."):  # classic and Connect have classes of one name
        return any(
            base.__name__ == kind.__name__ and base.__module__.startswith("pyspark.")
            for base in type(value).__mro__
        )
    if getattr(kind, "_is_protocol", False):
        return not _missing(value, kind)
    accepted, refused = _SPECIAL.get(kind, (kind, ()))
    if not isinstance(value, accepted) or isinstance(value, refused):
        return False
    return not (inside and inner) or all(fits(*each, inside) for each in _elements(value, inner))


def _elements(value: Any, inner: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Yield the elements of one of Python's own collections, each with its annotation."""
    if type(value) is tuple and len(inner) == len(value) and Ellipsis not in inner:
        yield from zip(value, inner, strict=True)
    elif type(value) in (dict, frozenset, list, set, tuple):
        yield from zip(value, repeat(inner[0]))
    if type(value) is dict and len(inner) == 2:
        yield from zip(value.values(), repeat(inner[1]))


_NO_FLAG = (bool, np.bool_)
_SPECIAL: dict[type, tuple[Any, Any]] = {
    int: ((int, np.integer), _NO_FLAG),
    float: ((int, float, np.number), (*_NO_FLAG, complex, np.complexfloating)),
    bool: (_NO_FLAG, ()),
    **{kind: (kind, (str, bytes)) for kind in (abc.Collection, abc.Iterable, abc.Sequence)},
}


def _missing(value: Any, protocol: type) -> list[str]:
    """Return the names of a protocol that a value lacks, without a look at its properties."""
    return sorted(
        name
        for name in _members(protocol)
        if not (hasattr(type(value), name) or hasattr(value, name))
    )


@cache
def _members(protocol: type) -> frozenset[str]:
    """Return the names that whatever fits a protocol has."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    names = (
        name for base in bases for name in (*vars(base), *getattr(base, "__annotations__", ()))
    )
    return frozenset(name for name in names if not name.startswith("_"))


def _called(function: Callable[..., Any], owner: Any) -> str:
    """Return the name of a function, of a method with the class of the object at hand."""
    if owner is None:
        return function.__qualname__.removesuffix(".__init__")
    name = owner.__name__ if isinstance(owner, type) else type(owner).__name__
    return f"{name}.{function.__name__}".removesuffix(".__init__")


def _shown(signature: inspect.Signature) -> str:
    names = [name for name in signature.parameters if name != "self"]
    return f"({', '.join(names)})"


def _value(value: Any) -> str:
    try:
        shown = " ".join(repr(value).split())
    except Exception:
        shown = "a value that cannot be shown"
    shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
    kind = type(value)
    return "None" if value is None else f"{shown}, of type {kind.__name__}"


def _advice(hint: Any, value: Any) -> str:
    """Return the advice to write another value."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for kind in (get_origin(part) or part for part in parts):
        if not isinstance(kind, type) or kind is Any:
            continue
        is_protocol = getattr(kind, "_is_protocol", False)
        if isinstance(value, type) and not is_protocol and issubclass(value, kind):
            return f"Write {value.__name__}(): an instance, and not the class."
        for each in _concrete(kind) if isinstance(value, str) else ():
            if each.__name__.lower() == value.lower():
                return f"Write {each.__name__}()."
        if kind is str and type(value).__name__ == "Column":
            return "Write the condition as text of SQL, as in WHERE."
    return f"It should be: {' | '.join(_hint_text(part, value) for part in parts)}."


def _concrete(kind: type) -> list[type]:
    """Return the public classes that an abstract class stands for."""
    if inspect.isabstract(kind):
        return list(chain.from_iterable(map(_concrete, kind.__subclasses__())))
    return [] if kind.__name__.startswith("_") else [kind]


def _hint_text(hint: Any, value: Any) -> str:
    """Return a type as it is written, without the modules of its names, and what a value lacks."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kind = get_origin(hint) or hint
    if getattr(kind, "_is_protocol", False):
        return f"{kind.__name__}, and has no {', '.join(_missing(value, kind))}"
    if inspect.isabstract(kind) and kind.__module__.partition(".")[0] in _LIBRARIES:
        names = sorted(each.__name__ for each in _concrete(kind))
        few = " | ".join(names[:3]) + (" | ..." if len(names) > 3 else "")
        return few if len(names) < 4 else f"a {kind.__name__} ({few})"
    return re.sub(r"\b\w+\.", "", inspect.formatannotation(hint).replace("NoneType", "None"))
