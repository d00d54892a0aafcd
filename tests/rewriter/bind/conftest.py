"""The catalog that the binder's tests share."""

from __future__ import annotations

import pytest

from rewriter.bind.catalog import MemoryCatalog
from tests.rewriter.bind.catalog import CATALOG


@pytest.fixture(scope="session")
def catalog() -> MemoryCatalog:
    """Two relations of cars, some of short names, and views over them."""
    return CATALOG
