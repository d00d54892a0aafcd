"""Five levels of disclosure of a store to its peers, each including the ones before it."""

from __future__ import annotations

from enum import IntEnum

from graphquery.errors import FederationError


class Disclosure(IntEnum):
    """The amount that a peer may learn about a store.

    It is enforced where answers are computed, before a reply is sent.
    """

    NOTHING = 0
    """Nothing, not even the existence of a store."""
    CHANNELS = 1
    """The names of exported and imported datasets, and the datasets that each derives from."""
    SKETCH = 2
    """Also sketches of a row's possible ancestors."""
    BOUNDARY = 3
    """Also the derivations among crossing rows."""
    NODES = 4
    """Also nodes, names, edges and values."""

    @classmethod
    def named(cls, name: str) -> Disclosure:
        """Return the level of a name: ``nothing``, ``channels``, ``sketch``, ``boundary``,
        ``nodes``.

        Raises
        ------
        FederationError
            No level has that name.
        """
        try:
            return cls[name.upper()]
        except KeyError:
            levels = ", ".join(level.name.lower() for level in cls)
            raise FederationError(f"There is no disclosure {name!r}; there are {levels}.") from None
