"""Stores for tests: empty ones, and one with a few transactions."""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from graphquery.store import Store
from tests.graphquery.store.workload import Unsynced, add


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store that does not wait for the disk."""
    return Store.create(tmp_path / "store", files=Unsynced())


@pytest.fixture
def filled(store: Store) -> Store:
    """Transactions 0 to 5 of the workload."""
    with store.writer() as writer:
        for number in range(6):
            with writer.transaction() as transaction:
                add(transaction, number)
                transaction.commit()
    return store


@pytest.fixture(scope="session")
def processes() -> ForkServerContext:
    """Processes that start quickly: what they import, pandas by way of pyarrow, is there before."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "tests.graphquery.store.workload"])
    return context
