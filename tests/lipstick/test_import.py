"""What is imported first does not matter."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lipstick


@pytest.mark.parametrize("name", ["semirings", "each", "open", "Capture"])
def test_names_are_there_at_once(name: str) -> None:
    """In a process that has imported nothing else of ours."""
    done = subprocess.run(
        [sys.executable, "-c", f"from lipstick import {name}"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert name in lipstick.__all__
