"""Semiring provenance for Spark SQL.

>>> ls = lipstick.session(spark)
>>> ls.track("cars", cars, key=["car_id"])
>>> q = ls.sql("SELECT model, count(*) AS n FROM cars GROUP BY model")
>>> q.df, q.polynomials(), q.what_if(delete={"cars": "car_id = 'C2'"}).changes

Names are imported when they are first used: what is asked of a stored graph needs no Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphquery.federation import open_federation as federation
    from lipstick.capture.capture import Capture
    from lipstick.capture.capture import open_capture as open
    from lipstick.erasure.plan import ErasurePlan
    from lipstick.erasure.receipt import ErasureReceipt
    from lipstick.errors import LipstickError
    from lipstick.explorer.opening import explore
    from lipstick.frame import AnnotatedFrame, QueryPlan
    from lipstick.histories import ReenactingSession as Session
    from lipstick.histories import session
    from lipstick.histories.history import TableHistory
    from lipstick.histories.steps import ExecutedStatement
    from lipstick.questions.algebra import Algebra
    from lipstick.questions.checks import read_checks
    from lipstick.questions.checks.check import CheckResult, DataCheck
    from lipstick.questions.scenarios import each
    from lipstick.questions.valuation import of_row
    from lipstick.questions.what_if import WhatIf, WhatIfMany
    from lipstick.watching.checks import CheckRun, LibraryResult
    from lipstick.watching.connect import ConnectWatch
    from lipstick.watching.libraries import LibraryVerdict
    from lipstick.watching.session import SessionWatch, watch
    from lipstick.watching.shown import Shown
    from lipstick.watching.writes import WatchedWrite
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
    "Algebra",
    "AnnotatedFrame",
    "Capture",
    "CheckResult",
    "CheckRun",
    "ConnectWatch",
    "DataCheck",
    "Edge",
    "ErasurePlan",
    "ErasureReceipt",
    "ExecutedStatement",
    "LibraryResult",
    "LibraryVerdict",
    "LipstickError",
    "Loop",
    "Module",
    "QueryPlan",
    "Relation",
    "Run",
    "Session",
    "SessionWatch",
    "Shown",
    "Specification",
    "StateQuery",
    "TableHistory",
    "WatchedWrite",
    "WhatIf",
    "WhatIfMany",
    "Workflow",
    "each",
    "explore",
    "federation",
    "of_row",
    "open",
    "open_run",
    "read_checks",
    "semirings",
    "session",
    "watch",
]

_ORIGINS = {
    "Algebra": ("lipstick.questions.algebra", "Algebra"),
    "QueryPlan": ("lipstick.frame", "QueryPlan"),
    "AnnotatedFrame": ("lipstick.frame", "AnnotatedFrame"),
    "DataCheck": ("lipstick.questions.checks.check", "DataCheck"),
    "CheckResult": ("lipstick.questions.checks.check", "CheckResult"),
    "read_checks": ("lipstick.questions.checks", "read_checks"),
    "Capture": ("lipstick.capture.capture", "Capture"),
    "Edge": ("lipstick.workflow", "Edge"),
    "ErasurePlan": ("lipstick.erasure.plan", "ErasurePlan"),
    "ErasureReceipt": ("lipstick.erasure.receipt", "ErasureReceipt"),
    "ExecutedStatement": ("lipstick.histories.steps", "ExecutedStatement"),
    "TableHistory": ("lipstick.histories.history", "TableHistory"),
    "LipstickError": ("lipstick.errors", "LipstickError"),
    "Loop": ("lipstick.workflow", "Loop"),
    "Module": ("lipstick.workflow", "Module"),
    "Relation": ("lipstick.workflow", "Relation"),
    "Run": ("lipstick.workflow", "Run"),
    "Session": ("lipstick.histories", "ReenactingSession"),
    "Specification": ("lipstick.workflow", "Specification"),
    "StateQuery": ("lipstick.workflow", "StateQuery"),
    "WhatIf": ("lipstick.questions.what_if", "WhatIf"),
    "WhatIfMany": ("lipstick.questions.what_if", "WhatIfMany"),
    "each": ("lipstick.questions.scenarios", "each"),
    "explore": ("lipstick.explorer.opening", "explore"),
    "federation": ("graphquery.federation", "open_federation"),
    "of_row": ("lipstick.questions.valuation", "of_row"),
    "Workflow": ("lipstick.workflow", "Workflow"),
    "open": ("lipstick.capture.capture", "open_capture"),
    "open_run": ("lipstick.workflow", "open_run"),
    "session": ("lipstick.histories", "session"),
    "SessionWatch": ("lipstick.watching.session", "SessionWatch"),
    "ConnectWatch": ("lipstick.watching.connect", "ConnectWatch"),
    "Shown": ("lipstick.watching.shown", "Shown"),
    "CheckRun": ("lipstick.watching.checks", "CheckRun"),
    "LibraryResult": ("lipstick.watching.checks", "LibraryResult"),
    "LibraryVerdict": ("lipstick.watching.libraries", "LibraryVerdict"),
    "WatchedWrite": ("lipstick.watching.writes", "WatchedWrite"),
    "watch": ("lipstick.watching.session", "watch"),
    "semirings": ("semiring.semirings", ""),
}

_OF_THE_CORE = dict.fromkeys(("Session", "session"), ("lipstick.sessions", "Session"))
"""Names that have another origin in an installation of the core alone."""


def __getattr__(name: str) -> Any:
    if name not in _ORIGINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = _imported(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "pyspark":
            raise
        from lipstick.errors import LipstickError

        text = "PySpark is not installed.\nInstall it: pip install 'pyspark>=4.0,<4.4'."
        raise LipstickError(text) from None
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    """Return what a public name stands for."""
    module, attribute = _ORIGINS[name]
    try:
        value: Any = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module or name not in _OF_THE_CORE:
            raise
        module, attribute = _OF_THE_CORE[name]
        value = import_module(module)
    return getattr(value, attribute) if attribute else value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
