"""A session that starts Spark: what a terminal shows of it, and what it does where Spark fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.classic


def run(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )


def test_nothing_is_printed_but_what_is_asked_for(tmp_path: Path) -> None:
    """No warnings of Java; what it writes afterwards is shown."""
    code = (
        "import lipstick\n"
        "ls = lipstick.session()\n"
        "rows = ls.spark.createDataFrame([('C1', 'Civic')], 'id string, model string')\n"
        "ls.track('cars', rows, key='id')\n"
        "print(ls.sql('SELECT model FROM cars').polynomials()[0][1])\n"
        "ls.spark._jvm.java.lang.System.err.println('of Java')\n"
        "ls.close()\n"
    )
    done = run(code, tmp_path)
    assert (done.returncode, done.stdout) == (0, "cars:C1\n"), done.stderr
    assert done.stderr in ("of Java\n", "")  # its end may come first


def test_a_spark_that_does_not_start_says_why(tmp_path: Path) -> None:
    code = (
        "import lipstick\n"
        "from lipstick.engines.spark.local_session import own_spark\n"
        "try:\n    own_spark({'spark.driver.memory': 'much'})\n"
        "except lipstick.errors.LipstickError as error:\n    print(error)\n"
    )
    done = run(code, tmp_path)
    assert done.stdout.startswith("Spark did not start: "), done.stderr
    assert "much" in done.stdout
    assert done.stderr == ""
