"""Errors of the store; all derive from :class:`semiring.errors.LipstickError`."""

from __future__ import annotations

from semiring.errors import LipstickError


class StoreError(LipstickError):
    """A missing store, or an operation or content that a store does not support."""


class StoreFormatError(StoreError):
    """A store written in a format that this version does not read."""


class StoreLockedError(StoreError):
    """A store that another writer holds."""


class StoreDamagedError(StoreError):
    """A store whose files contradict its log; ``fsck`` lists all damage."""


class MissingColumnError(StoreError, KeyError):
    """A column that a file does not have."""

    __str__ = StoreError.__str__
