"""Wrong values for every parameter of public functions, and what calls with them may end in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from semiring.errors import LipstickError

WRONG: tuple[Any, ...] = (
    *(None, 5, -1, 3.5, True, "", "no such", "a b'`é\n", b"x", [], [5], [None], ["x", "x"]),
    *({}, {5: 5}, {"no such": 5}, {"no such": [5]}, {"w": 5}, {"w": None}, {"w": [object()]}),
    *({"w": {"x": "nonsense("}}, (), ("a", "b", "c"), object(), len, int, Path("no/such/place")),
)
"""Values of other types than most parameters have, and names and paths that there are not."""


def raw_errors(
    function: Callable[..., Any],
    right: Mapping[str, Any],
    passes: tuple[type[BaseException], ...] = (),
) -> Iterator[str]:
    """Call a function with one wrong value at a time; yield the calls that end in a raw error.

    Parameters
    ----------
    right
        A right value for each parameter that has no default, and for others that need one.
    passes
        Errors of others that the function promises to let pass.
    """
    for name, parameter in inspect.signature(function).parameters.items():
        for wrong in WRONG:
            arguments = {**right, name: wrong}
            positional: list[Any] = []
            if parameter.kind is parameter.VAR_POSITIONAL:
                del arguments[name]
                positional = [wrong]
            try:
                function(*positional, **arguments)
            except (LipstickError, *passes):
                pass
            except Exception as error:
                called = getattr(function, "__qualname__", str(function))
                yield f"{called}({name}={wrong!r}): {type(error).__name__}: {str(error)[:200]}"
