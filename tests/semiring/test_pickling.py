"""The package pickled by value, for workers that do not have it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

import semiring
from semiring import Polynomial, Token, delta
from semiring.encodings.folds import fold
from semiring.encodings.valuation import Valuation
from semiring.semirings import ALL, Expressions

cloudpickle = pytest.importorskip("pyspark.cloudpickle")

WORKER = """
import sys
sys.modules["semiring"] = None
sys.modules["sympy"] = None
import pickle
job = pickle.load(open(sys.argv[1], "rb"))
sys.stdout.write("\\n".join(job()))
"""


def test_worker_without_the_package(tmp_path):
    """Evaluation runs where importing the package fails, in every semiring."""
    tokens, offsets = pa.array(["a", "b"]), np.array([0, 2, 2])
    annotation = delta(Polynomial.token(Token("r", "a")) + 1)

    def job():
        lines = []
        for each in [*ALL[:-1], Expressions()]:
            sums = fold(each, Valuation.compile(each, "r").lookup([tokens]), offsets)
            lines.append(f"{each.name} {each.to_arrow(sums).to_pylist()}")
            lines.append(str(annotation.evaluate(each) == annotation.evaluate(each)))
        lines.append(str(pickled == annotation) + str(hash(pickled) == hash(annotation)))
        return [*lines, repr(annotation)]

    pickled = delta(Polynomial.token(Token("r", "a")) + 1)
    # Left so: `lipstick.engines.spark.evaluate` relies on it too.
    cloudpickle.register_pickle_by_value(semiring)
    path = tmp_path / "job.pickle"
    path.write_bytes(cloudpickle.dumps(job))
    done = subprocess.run(
        [sys.executable, "-P", "-c", WORKER, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == job()
