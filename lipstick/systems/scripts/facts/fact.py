"""Facts about calls, and their fields."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lipstick.systems.scripts.errors import ScriptError

SELF = "self"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a call.

    Parameters
    ----------
    name
        Its name; None where the library has none that a caller may use; ``self`` the receiver.
    position
        Among the arguments that are given by position, from 0; None: it has none.
    fixed
        A file or state that is always the same, such as ``<stdout>``; ``?``: any file.
    """

    name: str | None = None
    position: int | None = None
    fixed: str | None = None

    @classmethod
    def read(cls, text: str | int) -> Parameter:
        """Read ``name@position``, a position alone, ``self``, ``?`` or ``<state>``.

        Raises
        ------
        ScriptError
            Anything else.
        """
        if isinstance(text, int):
            return cls(None, text)
        if text == SELF:
            return cls(SELF)
        if text == "?" or (text.startswith("<") and text.endswith(">")):
            return cls(fixed=text)
        name, sign, position = text.partition("@")
        if not name.isidentifier() or not sign or not position.isdigit():
            raise ScriptError(
                f"{text!r} is not a parameter.\nWrite its name and position, such as 'path@0', a"
                " position alone, 'self', '?' or a state such as '<stdout>'."
            )
        return cls(name, int(position))


@dataclass(frozen=True, slots=True)
class Fact:
    """The known behaviour of a call.

    Parameters
    ----------
    name
        The full name of the function, method or class.
    reads, writes
        Which argument names the file or table that is read or written.
    opens, mode
        Which argument names the file that is opened, and how: an argument, or the mode itself.
    appends
        Whether what was there before stays.
    mutates
        Which arguments are changed in place.
    stores
        Whether the other arguments are kept in what is changed.
    inplace
        Whether ``inplace=True`` changes the receiver.
    copy
        The parameter that is changed in place, and is the result, unless ``copy`` is True.
    out
        Where results are stored, if this is given.
    looks, touches
        Which argument names the file or folder that the call asks about, or makes, moves or
        removes; it is not an input or output.
    shares
        Whether the result may be an argument, or a part of one.
    state, observes
        Hidden state that is read and changed, or only read.
    returns
        The kind of the result; empty: not known.
    ratio
        Input-output ratio.
    unknown
        Why nothing is known; the fields are then the most that the call may do to its arguments.
    """

    name: str
    reads: Parameter | None = None
    writes: Parameter | None = None
    opens: Parameter | None = None
    mode: Parameter | str | None = None
    appends: bool = False
    mutates: tuple[Parameter, ...] = ()
    stores: bool = False
    inplace: bool = False
    copy: Parameter | None = None
    out: Parameter | None = None
    looks: Parameter | None = None
    touches: Parameter | None = None
    shares: bool = False
    state: tuple[str, ...] = ()
    observes: tuple[str, ...] = ()
    returns: str = ""
    ratio: str | None = None
    window: int | None = None
    unknown: str | None = None

    @property
    def changes(self) -> bool:
        """Return True if the call may change anything but its result."""
        return bool(
            self.mutates
            or self.writes
            or self.touches
            or self.opens
            or self.state
            or self.inplace
            or self.unknown
        )

    def changes_given(self, call: ast.Call) -> bool:
        """Return True if a call with these arguments may change anything but its result."""
        if self.changes or (self.copy is None and self.out is None):
            return self.changes
        names = {keyword.arg for keyword in call.keywords}
        starred = any(isinstance(item, ast.Starred) for item in call.args)
        position = None if self.out is None else self.out.position
        last = position is not None and len(call.args) > position
        return starred or last or bool(names & {None, "out", "copy"})


_FLAGS = ("appends", "stores", "inplace", "shares")
_PARAMETERS = ("reads", "writes", "opens", "copy", "out", "looks", "touches")
_KNOWN = {*_FLAGS, *_PARAMETERS, "mode", "mutates", "state", "observes", "returns", "ratio"} | {
    "window"
}


def read_fact(name: str, given: Mapping[str, Any]) -> Fact:
    """A fact from a mapping, as YAML has it.

    Raises
    ------
    ScriptError
        Fields that there are not, or of another type.
    """
    for field in given:
        if field not in _KNOWN:
            raise ScriptError(
                f"{name}: {field!r} is not a field of a fact.\n"
                f"Known are {', '.join(sorted(_KNOWN))}."
            )
    for field in _FLAGS:
        if not isinstance(given.get(field, False), bool):
            raise ScriptError(f"{name}: {field} is true or false, not {given[field]!r}.")
    try:
        parameters: dict[str, Any] = {
            field: Parameter.read(given[field]) for field in _PARAMETERS if field in given
        }
        mode = given.get("mode")
        if isinstance(mode, str) and "@" in mode:
            mode = Parameter.read(mode)
        mutates = tuple(Parameter.read(item) for item in _several(given.get("mutates", ())))
    except (ScriptError, AttributeError, TypeError) as error:
        raise ScriptError(f"{name}: {error}") from error
    window = given.get("window")
    if window is not None and not isinstance(window, int):
        raise ScriptError(f"{name}: a window is a number of tuples, not {window!r}.")
    return Fact(
        name,
        mode=mode,
        mutates=mutates,
        state=_several(given.get("state", ())),
        observes=_several(given.get("observes", ())),
        returns=str(given.get("returns", "")),
        ratio=given.get("ratio"),
        window=window,
        **parameters,
        **{field: given[field] for field in _FLAGS if field in given},
    )


def _several(item: Any) -> tuple[Any, ...]:
    return tuple(item) if isinstance(item, list | tuple) else (item,)
