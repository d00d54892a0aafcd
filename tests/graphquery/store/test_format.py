"""Migrations from one version of the format to the next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphquery.errors import StoreError
from graphquery.store import Migration, Store, StoreFiles, StoreFormatError, format, migrate
from graphquery.store.format import read_format
from tests.graphquery.store.workload import check


def rename_log(root: Path, files: StoreFiles) -> None:
    """From version -1: the log was in another folder. Can be applied again."""
    if (root / "journal").is_dir():
        files.move(root / "journal", root / "log")


def add_checkpoints(root: Path, files: StoreFiles) -> None:
    """From version 0: there were no checkpoints."""
    files.make_folder(root / "checkpoints")


MIGRATIONS = {
    -1: Migration("the log has its own folder", rename_log),
    0: Migration("there are checkpoints", add_checkpoints),
}


@pytest.fixture
def old(filled: Store) -> Store:
    """A store in a format two versions back: another folder, and one less."""
    (filled.path / "log").rename(filled.path / "journal")
    (filled.path / "checkpoints").rmdir()
    path = filled.path / "format.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": -1}))
    return filled


def test_present_version(filled: Store) -> None:
    """A store of the present version is left as it is."""
    before = (filled.path / "format.json").stat().st_mtime_ns
    assert migrate(filled.path) == []
    assert (filled.path / "format.json").stat().st_mtime_ns == before


def test_registered_migrations() -> None:
    """There is a way from every version there was to the present one."""
    assert set(format.MIGRATIONS) == set(range(1, format.VERSION))


def test_migrate(old: Store) -> None:
    """Migrations are applied in order, and the store keeps its content and identity."""
    identity = read_format(old.path).store
    with pytest.raises(
        StoreFormatError, match=r"format version -1; this .*\nBring it forward with"
    ):
        Store.open(old.path)
    done = migrate(str(old.path), migrations=MIGRATIONS, files=StoreFiles())
    assert done == ["the log has its own folder", "there are checkpoints"]
    assert read_format(old.path) == format.Format(1, identity)
    assert check(Store.open(old.path)) == 5
    assert migrate(old.path, migrations=MIGRATIONS) == []


def test_interrupted_migration(old: Store) -> None:
    """A migration that was interrupted at any step is continued."""

    class Failing(StoreFiles):
        left = 0

        def step(self, operation: str, path: Path) -> None:
            self.left -= 1
            if self.left == 0:
                raise OSError("interrupted")

    interrupted = 0
    for at in range(1, 100):
        files = Failing()
        files.left = at
        try:
            migrate(old.path, migrations=MIGRATIONS, files=files)
        except OSError:
            interrupted += 1
            (old.path / "lock").unlink(missing_ok=True)
        if read_format(old.path).version == 1:
            break
    assert interrupted > 5
    assert check(Store.open(old.path)) == 5


def test_no_way(old: Store) -> None:
    """Newer stores, and versions without a migration, are refused and not changed."""
    with pytest.raises(
        StoreFormatError, match=r"no migration of the store .* from .* 0 to 1\.\nUs"
    ):
        migrate(old.path, migrations={-1: MIGRATIONS[-1]})
    assert read_format(old.path).version == -1
    with pytest.raises(StoreFormatError, match=r"version -1, newer than -2; there is no way back"):
        migrate(old.path, target=-2, migrations=MIGRATIONS)


def test_migrate_while_written(filled: Store) -> None:
    """A store is not migrated under its writer."""
    with filled.writer():
        path = filled.path / "format.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": 0}))
        with pytest.raises(StoreError):
            migrate(filled.path, migrations=MIGRATIONS)
