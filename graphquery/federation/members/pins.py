"""Pins: the identity and the key that each member of a federation had at first contact.

They are kept beside the file of the federation, as SSH keeps the keys of known hosts:
``federation.toml`` has ``federation.known.json``. A member that is another store afterwards, or
signs by another key, is not believed until its pin is removed.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from graphquery.federation.errors import FederationError

VERSION = 1
LOG = logging.getLogger("lipstick.federation")


@dataclass(frozen=True, slots=True)
class Pin:
    """The identity and the key of a member at first contact.

    Parameters
    ----------
    store
        The identity of its store.
    key
        The public key that its server signs with; None for a folder, or a server without a key.
    """

    store: str
    key: str | None = None


def pins_file(federation: str | os.PathLike[str]) -> Path:
    """Return the file of the pins of a federation, given the federation's own."""
    return Path(federation).with_suffix(".known.json")


def read_pins(federation: str | os.PathLike[str]) -> dict[str, Pin]:
    """Return the pins of a federation by alias; none before the first contact.

    Raises
    ------
    FederationError
        The file is damaged. It is not passed over, since that would trust everybody anew.
    """
    file = pins_file(federation)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
        if document["format"] != VERSION:
            raise ValueError(f"format {document['format']!r}")
        return {
            str(alias): Pin(str(each["store"]), None if each["key"] is None else str(each["key"]))
            for alias, each in document["members"].items()
        }
    except FileNotFoundError:
        return {}
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError) as error:
        raise FederationError(
            f"{file} holds no pins of members: {error!r}.\nRestore it; or delete it, if all "
            "members are to be trusted as they are now."
        ) from error


def write_pins(federation: str | os.PathLike[str], pins: Mapping[str, Pin]) -> None:
    """Write the pins of a federation, whole or not at all.

    If the folder is not writable, members are pinned for this process alone, and a warning is
    logged.
    """
    file = pins_file(federation)
    members = {alias: {"store": pin.store, "key": pin.key} for alias, pin in pins.items()}
    text = json.dumps({"format": VERSION, "members": members}, indent=1)
    try:
        handle, beside = tempfile.mkstemp(dir=file.parent, prefix=".lipstick-pins-")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text + "\n")
        Path(beside).replace(file)
    except OSError as error:
        LOG.warning("%s cannot be written, members are not pinned: %s", file, error.strerror)


def forget(federation: str | os.PathLike[str], alias: str) -> None:
    """Remove the pin of a member: the next contact is the first.

    Raises
    ------
    FederationError
        No member of this alias is pinned.
    """
    pins = read_pins(federation)
    if alias not in pins:
        known = ", ".join(pins) or "none"
        raise FederationError(f"No member {alias!r} is pinned in {pins_file(federation)}: {known}.")
    del pins[alias]
    write_pins(federation, pins)
