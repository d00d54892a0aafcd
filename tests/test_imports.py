"""The import of a session does not wait for libraries that few questions need."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("library", ["pandas", "sympy", "networkx", "pyarrow.dataset"])
def test_a_session_is_imported_without(library: str) -> None:
    code = f"import sys; from lipstick import session; print({library!r} in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
