"""Results that a watched session has shown: queries, which are annotated when they are asked.

Of a call its analysed plan is kept, neither rows nor what Spark has made to run it. The annotated
query reads the sources as they were then, or says that they are not.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from copy import copy
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self

from pyspark.sql import DataFrame, Row, SparkSession

from lipstick.dataframes.jvm import elements
from lipstick.errors import SourceChangedError, SourceError
from lipstick.tracking.formats.probe import read_anew
from lipstick.tracking.source import fingerprint
from lipstick.tracking.states import local_path
from lipstick.watching.calls import ALL_ROWS, ShownCall
from rewriter.blocks import topological
from semiring.support.door import checked

if TYPE_CHECKING:
    import pyarrow as pa

    from lipstick.frame import AnnotatedFrame
    from lipstick.questions.diff.difference import AnswerDifference
    from lipstick.questions.missing.answer import MissingRow
    from lipstick.questions.what_if import WhatIf
    from lipstick.questions.why.answer import Explanation
    from lipstick.watching.checks import CheckRun

FEW: Final = 100
"""The number of rows of a result, at most, that are kept within ``watch.checks()``."""
MOST: Final = 100
"""The number of results that are kept, at most: the last ones."""
_LONGEST: Final = 60
_ROWS: Final = ("number of output rows", "shuffle records written")
_SAME_ROWS: Final = re.compile(
    r"AdaptiveSparkPlan|AQEShuffleRead|ColumnarToRow|InputAdapter|Project|\w*QueryStage|Sort|Window"
)
_LIMITS: Final = re.compile(r"(?:CollectLimit|GlobalLimit|LocalLimit|TakeOrderedAndProject)\b")
_LIMIT: Final = re.compile(r"(?:limit=|Limit )(\d+)")


@checked
class Shown:
    """A result that a watched session has shown; see :attr:`lipstick.SessionWatch.shown`.

    Attributes
    ----------
    number
        Its place among the results, from 1.
    at
        When the call began.
    call
        The call: ``show()``, ``take(5)``, ``count()``.
    where
        The file and line, or the cell, of the call in the user's code; None: not known.
    value
        What ``count`` or ``isEmpty`` returned; else None.
    returned
        Within ``watch.checks()`` the rows that were returned, if they are a hundred or fewer.
    """

    def __init__(
        self,
        number: int,
        shown: ShownCall,
        plan: Any,
        settings: Mapping[str, str],
        annotate: Callable[[Shown], AnnotatedFrame],
    ) -> None:
        self.number = number
        self.at = datetime.fromtimestamp(shown.since, UTC)
        self.call = shown.text
        self.where = shown.where
        self.value = shown.value
        self._name = shown.name
        self._period = (shown.since, shown.until)
        self._plan = plan
        self._settings = settings
        self._annotate = annotate
        self._spark: SparkSession = shown.frame.sparkSession
        self._counted = shown.rows
        self._most = shown.most
        self.returned: tuple[Mapping[str, Any], ...] | None = None

    @cached_property
    def rows(self) -> int | None:
        """The number of rows shown; None: Spark has forgotten it, or ran others meanwhile."""
        if self._counted is not None:
            return self._counted
        found = _rows_of(self._spark, *self._period)
        return found if found is None or self._most is None else min(found, self._most)

    @cached_property
    def text(self) -> str | None:
        """The text of the query, as ``spark.sql`` got it; None: it was made otherwise."""
        if isinstance(self._plan, DataFrame):
            from lipstick.dataframes.messages import relation_of

            stated: str | None = relation_of(self._spark, self._plan).get("sql", {}).get("query")
            return stated
        origin = self._plan.origin()
        return None if origin.sqlText().isEmpty() else str(origin.sqlText().get())

    @cached_property
    def query(self) -> AnnotatedFrame:
        """The annotated query of all rows of the frame, over the sources as they were then.

        Of ``count`` it is the number of rows. Of ``head(2)`` and the like it has all rows of the
        frame, not only the first ones that were shown.

        Raises
        ------
        SourceChangedError
            When a source has changed since, or Spark reads other rows each time.
        QueryError
            When the query has an operator without a rule.
        """
        query = self._annotate(self)
        if any(block.breaks_ties for block in topological(query.plan.root)):
            warnings.warn(
                f"Rows may tie where the query of result {self.number} takes the first ones: its "
                "annotated rows may be others of those that tie than were shown.",
                stacklevel=3,
            )
        return query

    @cached_property
    def _asked(self) -> AnnotatedFrame:
        """The query, which has as many rows as were shown."""
        query = self.query
        rows: Any = query.capture.df
        if self._name == "count" and self.value not in (None, now := rows.head()[0]):
            raise self._differs("it", now)
        if self._name in ALL_ROWS and self._counted not in (None, now := rows.count()):
            raise self._differs("the number of its rows", now)
        return query

    def _differs(self, what: str, now: Any) -> SourceChangedError:
        return SourceChangedError(
            f"Result {self.number} cannot be explained: {what} is {now:,} over the sources that "
            f"there are now, and was {self.value or self._counted or 0:,}.\nShow it again, and ask "
            "then."
        )

    def keep(self, returned: Any) -> None:
        """Keep the rows of a result, if they are few."""
        if isinstance(returned, int):
            returned = [{self._name: returned}]
        elif hasattr(returned, "to_pylist"):
            returned = returned.to_pylist() if returned.num_rows <= FEW else None
        elif hasattr(returned, "to_dict"):
            returned = returned.to_dict("records") if len(returned) <= FEW else None
        elif isinstance(returned, Row):
            returned = [returned]
        if isinstance(returned, list) and len(returned) <= FEW and not _has_twice(returned):
            rows = (row.asDict() if isinstance(row, Row) else row for row in returned)
            self.returned = tuple(rows)

    def failing(self) -> Shown:
        """Return the rows that a ``count`` has counted, all where it counted the first ones."""
        rows = copy(self)
        for name in ("query", "_asked"):
            vars(rows).pop(name, None)
        rows._name, rows.value, rows._counted = "show", None, None
        over_connect = isinstance(rows._plan, DataFrame)
        if not over_connect and rows._plan.getClass().getSimpleName() == "GlobalLimit":
            rows._plan = rows._plan.child().child()
        return rows

    # -- questions: those of annotated queries ------------------------------------------------

    def why(self, column: str | None = None, *arguments: Any, **options: Any) -> Explanation:
        """Explain a value that was shown: ``why("n", {...})``; :meth:`AnnotatedFrame.why`.

        Of ``count()`` it is the number of rows.
        """
        counted = "count" if self._name == "count" else None
        return self._asked.why(column or counted, *arguments, **options)

    def why_not(self, *arguments: Any, **options: Any) -> MissingRow:
        """Explain why a row was not there; see :meth:`AnnotatedFrame.why_not`."""
        return self.query.why_not(*arguments, **options)

    def top(self, *arguments: Any, **options: Any) -> pa.Table:
        """Return the input rows that move a value most; see :meth:`AnnotatedFrame.top`."""
        return self._asked.top(*arguments, **options)

    def contributions(self, *arguments: Any, **options: Any) -> pa.Table:
        """Return a value without each of its inputs; see :meth:`AnnotatedFrame.contributions`."""
        return self._asked.contributions(*arguments, **options)

    def what_if(self, *arguments: Any, **options: Any) -> WhatIf[Any]:
        """Return what would have been shown without some inputs; :meth:`AnnotatedFrame.what_if`."""
        return self._asked.what_if(*arguments, **options)

    def diff(self, earlier: Shown, *arguments: Any, **options: Any) -> AnswerDifference:
        """Compare with a result that was shown earlier; see :meth:`AnnotatedFrame.diff`."""
        return earlier.query.diff(self.query, *arguments, **options)

    def __repr__(self) -> str:
        return "  ".join(self._cells())

    def _cells(self) -> tuple[str, ...]:
        rows = (
            "? rows" if self.rows is None else f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        )
        if self.rows is not None and self.rows == self._most:
            rows = f"first {rows}"  # the frame has more, or just as many
        value = (
            ""
            if self.value is None
            else f" = {self.value:,}"
            if self._name == "count"
            else f" = {self.value}"
        )
        text = " ".join((self.text or "").split())
        short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
        at = self.at.astimezone().strftime("%H:%M:%S")
        return f"{self.number}", at, self.call + value, rows, self.where or "", short


class ShownList(tuple[Shown, ...]):
    """Results in their order, printed as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [each._cells() for each in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
        return "\n".join(lines) or "nothing was shown"


@checked
class ShownResults(ABC):
    """The last results that a session has shown."""

    def __init__(self) -> None:
        self._shown: deque[Shown] = deque(maxlen=MOST)
        self._runs: list[Callable[[Shown], None]] = []

    @property
    def shown(self) -> ShownList:
        """The last 100 results that the session has shown, each to be asked ``why`` and the like.

        Calls of ``show``, ``collect``, ``toPandas``, ``toArrow``, ``count``, ``isEmpty``,
        ``first``, ``take``, ``head`` and ``tail`` show results, and so do notebooks.
        """
        self._check_open()
        return ShownList(self._shown)

    @property
    def last(self) -> Shown:
        """The last result that the session has shown.

        Raises
        ------
        SourceError
            When it has shown nothing.
        """
        self._check_open()
        if not self._shown:
            raise SourceError(
                "The session has shown nothing since it is watched.\nShow a data frame, such as "
                "by df.show(), and ask then."
            )
        return self._shown[-1]

    @abstractmethod
    def close(self) -> None:
        """Stop watching, and forget what was kept."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def checks(self) -> CheckRun:
        """Keep the queries of a library's checks, with what they return, while a block runs.

        ``with watch.checks() as run:`` goes around the library's own call. ``run.results(report)``
        has each of its results with the query that made it, for ``why``, ``quarantine`` and
        ``top``.
        """
        from lipstick.watching.checks import CheckRun

        self._check_open()
        return CheckRun(self._keep_in)

    def _keep_in(self, keep: Callable[[Shown], None]) -> Callable[[], None]:
        self._runs.append(keep)

        def end() -> None:
            self._runs.remove(keep)

        return end

    def _add_shown(
        self, call: ShownCall, plan: Any, settings: Mapping[str, str]
    ) -> Callable[[Any], None] | None:
        number = self._shown[-1].number + 1 if self._shown else 1
        shown = Shown(number, call, plan, settings, self._query_of)
        self._shown.append(shown)
        for keep in self._runs:
            keep(shown)
        return shown.keep if self._runs else None

    @abstractmethod
    def _check_open(self) -> None:
        """Raise :class:`LipstickError` if the watch was closed."""

    @abstractmethod
    def _query_of(self, shown: Shown) -> AnnotatedFrame:
        """Annotate the query of a result, over the sources as they were then."""


def check_unchanging(frame: DataFrame, number: int) -> None:
    """Check that a result reads nothing that has other rows each time.

    Raises
    ------
    SourceChangedError
    """
    if (changing := read_anew(frame)) is not None:
        raise SourceChangedError(
            f"Result {number} reads {changing}, whose rows may be others now.\nWrite them to "
            "files first, and show what is read from these."
        )


def check_files(spark: SparkSession, frame: DataFrame, number: int, at: datetime) -> None:
    """Check that the files of a frame have not changed since a result was shown.

    Raises
    ------
    SourceChangedError
    """
    states = fingerprint(spark, frame)
    unit = 1e9 if all(local_path(uri) for uri, _, _ in states) else 1e3
    began = at.timestamp() * unit
    removed = [uri for uri, length, _ in states if length < 0]
    if removed:
        raise SourceChangedError(
            f"{removed[0]} was removed since result {number} was shown: what was read is not there "
            "any more.\nWrite it again, show what is read from it, and ask then."
        )
    changed = [uri for uri, _, time in states if time > began]
    if changed:
        more = f", and {len(changed) - 1} files more" if changed[1:] else ""
        raise SourceChangedError(
            f"{changed[0]} has changed since result {number} was shown{more}.\nShow it again, "
            "and ask then."
        )


def _has_twice(rows: list[Any]) -> bool:
    """Return True if two columns of rows have one name, so that neither is asked by it."""
    names: list[str] = getattr(rows[0], "__fields__", []) if rows else []
    return len(set(names)) < len(names)


def _rows_of(spark: SparkSession, since: float, until: float) -> int | None:
    """Return how many rows the one query returned that ran in a time; None: not known."""
    store = spark._jsparkSession.sharedState().statusStore()
    start, end = int(since * 1e3), int(until * 1e3) + 1
    found = [
        each
        for each in elements(store.executionsList())
        if start <= int(each.submissionTime()) <= end
        and int(each.executionId()) == int(each.rootExecutionId())
    ]
    if len(found) != 1:
        return None
    number = found[0].executionId()
    graph, values = store.planGraph(number), store.executionMetrics(number)
    nodes = {int(node.id()): node for node in elements(graph.allNodes())}
    below: dict[int, list[int]] = {}
    for edge in elements(graph.edges()):
        below.setdefault(int(edge.toId()), []).append(int(edge.fromId()))
    tops = {*below, *nodes} - {each for several in below.values() for each in several}
    tops = {each for each in tops if not nodes[each].name().startswith("WholeStageCodegen")}
    return _rows_at(min(tops), nodes, below, values) if tops else None


def _rows_at(
    at: int, nodes: Mapping[int, Any], below: Mapping[int, list[int]], values: Any
) -> int | None:
    """Return how many rows an operator returned, by its own count or that of the one below."""
    name, description = str(nodes[at].name()), str(nodes[at].desc())
    for metric in elements(nodes[at].metrics()):
        if str(metric.name()) in _ROWS and values.contains(metric.accumulatorId()):
            return int(re.sub(r"\D", "", str(values.apply(metric.accumulatorId()))))
    limits = bool(_LIMITS.match(name))
    if len(below.get(at, ())) != 1 or not (limits or _SAME_ROWS.fullmatch(name)):
        return None
    rows = _rows_at(below[at][0], nodes, below, values)
    found = _LIMIT.search(description) if limits else None
    if limits:
        return None if rows is None or found is None else min(rows, int(found[1]))
    return rows
