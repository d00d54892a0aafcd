"""What variables and regions hold at a point of a script, with changes that can be taken back."""

from __future__ import annotations

from dataclasses import dataclass, field

from lipstick.systems.scripts.model import Key
from lipstick.systems.scripts.reading.values import Value


@dataclass(slots=True)
class State:
    """The current version of every variable, ``(scope, name)``, and region, a number.

    Branches are read one after the other from the same state: changes are logged, and taken back
    before the next branch. A branch costs what it changes, whatever else there is.
    """

    current: dict[Key, Value] = field(default_factory=dict)
    log: list[tuple[Key, Value | None]] = field(default_factory=list)

    def get(self, key: Key) -> Value | None:
        """What a key holds; None: nothing."""
        return self.current.get(key)

    def write(self, key: Key, value: Value) -> None:
        """Let a key hold a value from here on."""
        self.log.append((key, self.current.get(key)))
        self.current[key] = value

    def mark(self) -> int:
        """This point, for `changes`, `versions` and `undo`."""
        return len(self.log)

    def changes(self, mark: int) -> dict[Key, Value]:
        """What the keys that were written since a point hold now, in the order of writing."""
        keys = dict.fromkeys(key for key, _ in self.log[mark:])
        return {key: self.current[key] for key in keys if key in self.current}

    def versions(self, mark: int) -> dict[Key, list[Value]]:
        """All that the keys written since a point held then or since, each once."""
        versions: dict[Key, dict[int, Value]] = {}
        for key, before in self.log[mark:]:
            known = versions.setdefault(key, {})
            if before is not None:
                known[id(before)] = before
        for key, known in versions.items():
            if key in self.current:
                known[id(self.current[key])] = self.current[key]
        return {key: list(known.values()) for key, known in versions.items()}

    def undo(self, mark: int) -> None:
        """Go back to a point."""
        while len(self.log) > mark:
            key, before = self.log.pop()
            if before is None:
                self.current.pop(key, None)
            else:
                self.current[key] = before

    def forget(self, scope: int) -> None:
        """Drop the variables of a function that has returned and that nothing refers to."""
        for key in [key for key in self.current if isinstance(key, tuple) and key[0] == scope]:
            del self.current[key]
