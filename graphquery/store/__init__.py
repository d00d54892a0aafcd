"""A store of provenance graphs: a folder to which one writer appends while others read."""

from __future__ import annotations

from graphquery.errors import StoreDamagedError, StoreError, StoreFormatError
from graphquery.store.commit import FileEntry
from graphquery.store.file_system import StoreFiles
from graphquery.store.format import Migration, migrate
from graphquery.store.fsck import Damage, fsck
from graphquery.store.maintenance import Compaction
from graphquery.store.snapshot import Snapshot
from graphquery.store.store import Store
from graphquery.store.transaction import Transaction
from graphquery.store.writer import Writer

__all__ = [
    "Compaction",
    "Damage",
    "FileEntry",
    "Migration",
    "Snapshot",
    "Store",
    "StoreDamagedError",
    "StoreError",
    "StoreFiles",
    "StoreFormatError",
    "Transaction",
    "Writer",
    "fsck",
    "migrate",
]
