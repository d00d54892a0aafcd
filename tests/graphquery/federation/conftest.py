"""The example of the definitions, made once, and a transport whose store can be stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.graphquery.federation.stores import example


@pytest.fixture(scope="session")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of the example's stores, A to D; not to be written to."""
    return example(tmp_path_factory.mktemp("example"))
