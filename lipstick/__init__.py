"""Semiring provenance for Spark SQL.

>>> ls = lipstick.session(spark)
>>> ls.track("cars", cars, key=["car_id"])
>>> q = ls.sql("SELECT model, count(*) AS n FROM cars GROUP BY model")
>>> q.df, q.polynomials(), q.what_if(delete={"cars": "car_id = 'C2'"}).changes
"""

from __future__ import annotations

from lipstick.capture.capture import Capture
from lipstick.capture.capture import open_capture as open
from lipstick.errors import LipstickError
from lipstick.frame import AnnotatedFrame
from lipstick.session import Session, session
from lipstick.whatif import WhatIf
from lipstick.workflow import (
    Edge,
    Loop,
    Module,
    Relation,
    Run,
    Specification,
    StateQuery,
    Workflow,
    open_run,
)
from semiring import semirings

__all__ = [
    "AnnotatedFrame",
    "Capture",
    "Edge",
    "LipstickError",
    "Loop",
    "Module",
    "Relation",
    "Run",
    "Session",
    "Specification",
    "StateQuery",
    "WhatIf",
    "Workflow",
    "open",
    "open_run",
    "semirings",
    "session",
]
