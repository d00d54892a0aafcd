"""A recorded store, and the module of its graph."""

from pathlib import Path

import pyarrow as pa

from lipstick.systems.streams import Assertions, Runner

Path("app.py").write_text(
    """
from lipstick.systems.streams import Graph


def graph():
    made = Graph("sensors")
    made.source("readings", time="ts").time_window(20_000, name="alarms")
    return made
""".lstrip()
)
from app import graph  # noqa: E402

with Assertions("STORE") as recorder:
    runner = Runner(graph(), recorders=[recorder])
    runner.push({"readings": pa.table({"ts": [1279398100000 + n * 1000 for n in range(8)]})})
    runner.close()
