"""Parameters of a question: JSON from a page, with each value checked before it is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lipstick.explorer.errors import ExploreError

_TEXT, _ITEMS = 2_000, 20_000


class Params:
    """The values that a question is given, by name.

    Every method raises :class:`ExploreError` for a value of another type, and for one that must be
    there and is not.
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping):
            raise ExploreError("A question is given values by name.")
        self._given = given

    def item(self, name: str) -> Any:
        """A value as it is."""
        if name not in self._given:
            raise ExploreError(f"The question lacks {name!r}.")
        return self._given[name]

    def text(self, name: str, default: str | None = None) -> str:
        """A text that is not too long."""
        given = self._given.get(name, default)
        if not isinstance(given, str) or len(given) > _TEXT:
            raise ExploreError(f"{name!r} is a text of at most {_TEXT:,} characters.")
        return given

    def integer(self, name: str, default: int, least: int = -(2**53), most: int = 2**53) -> int:
        """An integer, moved into the range that it may have."""
        given = self._given.get(name, default)
        if given is None:
            given = default
        if isinstance(given, bool) or not isinstance(given, int):
            raise ExploreError(f"{name!r} is an integer.")
        return max(least, min(given, most))

    def integers(self, name: str) -> list[int]:
        """Return the integers of a list; none where nothing is given."""
        given = self.items(name)
        if any(isinstance(item, bool) or not isinstance(item, int) for item in given):
            raise ExploreError(f"{name!r} is a list of integers.")
        return given

    def flag(self, name: str) -> bool:
        """Return True if something is asked for."""
        return self._given.get(name) is True

    def items(self, name: str) -> list[Any]:
        """A list that is not too long; none where nothing is given."""
        given = self._given.get(name)
        if given is None:
            return []
        if not isinstance(given, list) or len(given) > _ITEMS:
            raise ExploreError(f"{name!r} is a list of at most {_ITEMS:,} values.")
        return given

    def mapping(self, name: str) -> dict[str, Any]:
        """Values by name; none where nothing is given."""
        given = self._given.get(name)
        if given is None:
            return {}
        if not isinstance(given, dict):
            raise ExploreError(f"{name!r} has values by name.")
        return given
