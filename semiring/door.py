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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, cached_property, wraps
from itertools import islice
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import numpy as np

from semiring.depth import deeply
from semiring.errors import ArgumentError

T = TypeVar("T")

_SAMPLE = 1000
"""Number of elements of a collection that are checked."""


def checked(target: T) -> T:
    """Return a function that checks its arguments, or a class whose public methods do.

    A call that exhausts Python's recursion limit is repeated where there is more room, see
    :func:`semiring.depth.deeply`.

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
    @wraps(function)
    def read(self: Any) -> Any:
        return _entered(function, (self,), {}, bound=None)

    return read


def _function(function: Callable[..., Any], *, bound: bool) -> Callable[..., Any]:
    if getattr(function, "__isabstractmethod__", False) or hasattr(function, "_checked"):
        return function

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _entered(function, args, kwargs, bound=bound)

    call._checked = True  # type: ignore[attr-defined]
    return call


class _Door:
    """The switch of checked functions; after unpickling in a worker it is off."""

    def enter(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        bound: bool | None,
    ) -> Any:
        """Check the arguments of a call and make it; ``bound`` is None where there are none."""
        if bound is not None:
            problem = _problem(function, args, kwargs, bound=bound)
            if problem is not None:
                raise ArgumentError(problem)
        return deeply(function, *args, **kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers get functions by value, and have neither this module nor users.
        return types.SimpleNamespace, ()


_DOOR = _Door()


def _entered(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    bound: bool | None,
) -> Any:
    enter = getattr(_DOOR, "enter", None)
    if enter is None:
        return function(*args, **kwargs)
    return enter(function, args, kwargs, bound=bound)


def _problem(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], *, bound: bool
) -> str | None:
    """Return what is wrong with the arguments of a call; None: nothing."""
    signature, hints = _signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        return f"{_name(function)}: {error}.\nIt is called {_name(function)}{_shown(signature)}."
    for number, (name, value) in enumerate(given.items()):
        if bound and number == 0:
            continue
        parameter = signature.parameters[name]
        values = {name: value}
        if parameter.kind is parameter.VAR_POSITIONAL:
            values = {f"{name}[{place}]": each for place, each in enumerate(value)}
        elif parameter.kind is parameter.VAR_KEYWORD:
            values = value
        for called, each in values.items():
            if each is not parameter.default and not fits(each, hints.get(name, Any)):
                return (
                    f"{_name(function)}: {called} is {_value(each)}.\n"
                    f"It should be: {_hint_text(hints.get(name, Any), each)}."
                )
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
    return annotation


def fits(value: Any, hint: Any) -> bool:
    """Return True if a value has the type of an annotation, as far as it can be checked.

    Iterators are not consumed, and only the first thousand elements of a collection are checked. A
    str is not a sequence of str, a bool no number, and integers are numbers.
    """
    if hint is Any or isinstance(hint, (TypeVar, str, typing.ForwardRef, typing.ParamSpec)):
        return True
    if hint is None or hint is type(None):
        return value is None
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(fits(value, each) for each in inner)
    if origin is Literal:
        return any(type(value) is type(each) and value == each for each in inner)
    if origin is type:
        return isinstance(value, type)
    kind = origin or hint
    if kind in _SCALARS:
        accepted, refused = _SCALARS[kind]
        return isinstance(value, accepted) and not isinstance(value, refused)
    if kind is Callable or getattr(kind, "__name__", "") == "Callable":
        return callable(value)
    if not isinstance(kind, type):
        return True
    if kind.__module__.startswith("pyspark."):
        return any(
            base.__name__ == kind.__name__ and base.__module__.startswith("pyspark.")
            for base in type(value).__mro__
        )
    if getattr(kind, "_is_protocol", False):
        return kind in _OPEN or all(hasattr(value, name) for name in _members(kind))
    if not isinstance(value, kind) or (kind in _ITERABLES and isinstance(value, (str, bytes))):
        return False
    return _elements_fit(value, kind, inner)


def _elements_fit(value: Any, kind: type, inner: tuple[Any, ...]) -> bool:
    if set(inner) <= {Any, Ellipsis} or isinstance(value, (Iterator, np.ndarray)):
        return True
    if issubclass(kind, Mapping) and len(inner) == 2:
        pairs = islice(value.items(), _SAMPLE)
        return all(fits(key, inner[0]) and fits(each, inner[1]) for key, each in pairs)
    if kind is tuple and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(fits, value, inner))
    if not issubclass(kind, Iterable) or not isinstance(value, Collection):
        return True
    return all(fits(each, inner[0]) for each in islice(value, _SAMPLE))


_ITERABLES = (
    typing.get_origin(typing.Sequence[int]),
    typing.get_origin(typing.Iterable[int]),
    typing.get_origin(typing.Collection[int]),
)
_OPEN = (os.PathLike,)
_NO_FLAG = (bool, np.bool_)
_SCALARS: dict[Any, tuple[Any, Any]] = {
    int: ((int, np.integer), _NO_FLAG),
    float: ((int, float, np.number), (*_NO_FLAG, complex, np.complexfloating)),
    bool: (_NO_FLAG, ()),
    str: (str, ()),
}


@cache
def _members(protocol: type) -> frozenset[str]:
    """Return the names that whatever fits a protocol has."""
    bases = [base for base in protocol.__mro__ if getattr(base, "_is_protocol", False)]
    names = (
        name for base in bases for name in (*vars(base), *getattr(base, "__annotations__", ()))
    )
    return frozenset(name for name in names if not name.startswith("_"))


def _name(function: Callable[..., Any]) -> str:
    return function.__qualname__.removesuffix(".__init__")


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


def _hint_text(hint: Any, value: Any) -> str:
    """Return a type as it is written, without the modules of its names, and what a value lacks."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kind = get_origin(hint) or hint
    if getattr(kind, "_is_protocol", False):
        missing = sorted(name for name in _members(kind) if not hasattr(value, name))
        return f"{kind.__name__}, and has no {', '.join(missing)}"
    return re.sub(r"\b\w+\.", "", inspect.formatannotation(hint).replace("NoneType", "None"))
