"""Watched sessions over Spark Connect, whose plans of writes stay in the server.

What a client sees are the calls that show rows, and the commands that give names another meaning.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick import display
from lipstick.dataframes import query_text
from lipstick.dataframes.connect import plan_key, respell
from lipstick.dataframes.messages import as_data, frame_of, relation_of
from lipstick.engines.spark.local_session import unlog_own_errors
from lipstick.errors import LipstickError, SourceChangedError, SourceError
from lipstick.sessions import Session
from lipstick.tracking.formats.probe import versioned_table
from lipstick.watching.calls import notice, notice_commands
from lipstick.watching.shown import Shown, ShownResults, check_files, check_unchanging
from rewriter.dialect import name_parts
from rewriter.frames import catalyst
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.frame import AnnotatedFrame

_RENAMES = re.compile(r"\s*(?:CREATE|DROP|ALTER|REPLACE|USE|SET)\b", re.IGNORECASE)
_LEAVES = ("cached_local_relation", "local_relation")


@checked
class ConnectWatch(ShownResults):
    """A watch over what a session of Spark Connect shows. Made by :func:`lipstick.watch`.

    Tables that it reads are sources: the plans behind them are in the server.
    """

    def __init__(
        self,
        spark: SparkSession,
        store: str | os.PathLike[str] | None = None,
        keys: Mapping[str, str | Sequence[str]] | None = None,
    ) -> None:
        unlog_own_errors()
        super().__init__()
        self.spark = spark
        self._store = store
        self._keys = dict(keys or {})
        self._session: Session | None = None
        self._commands: list[tuple[float, str]] = []
        self._closed = False
        self._ends = [
            notice(spark, lambda call: self._add_shown(call, call.frame)),
            notice_commands(spark, self._add_command),
        ]

    @property
    def session(self) -> Session:
        """The session that questions are asked in, over a copy of the session in the server."""
        self._check_open()
        if self._session is None:
            clone = getattr(self.spark, "cloneSession", None)
            if clone is None:
                raise LipstickError(
                    "Questions about a session of Spark Connect are asked in a copy of it, which "
                    "PySpark makes from 4.2 on.\nInstall a later PySpark, or track the relations "
                    "in a session of your own (lipstick.session)."
                )
            self._session = Session(clone(), self._store)
        return self._session

    @property
    def sources(self) -> dict[str, str]:
        """By tracked source that a question has met, the reason why it goes no further back."""
        reason = "over Spark Connect the plans of writes are in the server"
        return {} if self._session is None else dict.fromkeys(self._session.tracked, reason)

    @property
    def writes(self) -> NoReturn:
        """Raise :class:`LipstickError`: the plans of writes are in the server."""
        raise LipstickError(
            "The writes of a session of Spark Connect are not known: their plans are in the "
            "server.\nAsk what was shown (watch.shown), or watch the session on the server."
        )

    def query(self, target: str | os.PathLike[str] | DataFrame) -> AnnotatedFrame:
        """Annotate the rows of a table or frame, in terms of the tables and files that it reads."""
        self._check_open()
        frame = target if isinstance(target, DataFrame) else self.spark.table(os.fspath(target))
        return self._annotated(relation_of(self.spark, frame), None)

    def close(self) -> None:
        """Stop watching, and forget what was tracked."""
        if self._closed:
            return
        self._closed = True
        for end in self._ends:
            end()
        self._shown.clear()
        if self._session is not None:
            copy = self._session.spark
            self._session.close()
            with suppress(PySparkException):  # its stop() would stop a server of this process
                copy.client.release_session()
                copy.client.close()

    def __repr__(self) -> str:
        shown = "closed" if self._closed else f"{len(self.shown)} results so far"
        return f"<lipstick watch over Spark Connect, {shown}>"

    def _check_open(self) -> None:
        if self._closed:
            raise LipstickError(
                "The watch was closed, and what it kept is gone.\nOpen another one, "
                "lipstick.watch(spark), before the results to ask about."
            )

    def _add_command(self, command: Any, at: float) -> None:
        data = as_data(command)
        view = data.get("create_dataframe_view", {}).get("name")
        text = data.get("sql_command", {})
        text = text.get("sql") or text.get("input", {}).get("sql", {}).get("query") or ""
        if view or _RENAMES.match(text):
            self._commands.append((at, view or text))

    def _query_of(self, shown: Shown) -> AnnotatedFrame:
        self._check_open()
        frame = shown._plan
        if shown._name == "count":
            frame = frame.groupBy().agg(F.count(F.lit(1)).alias("count"))
        return self._annotated(relation_of(self.spark, frame), shown)

    def _annotated(self, relation: dict[str, Any], shown: Shown | None) -> AnnotatedFrame:
        """Annotate a relation, as it was when it was shown; None: as it is now."""
        session = self.session
        with display.progress(after=2.0) as line:
            for name, leaf in _leaves(relation):
                if shown is not None:
                    self._check_name(name, shown)
                line(f"tracking {name or 'rows'}")
                self._track(name, leaf, shown)
            frame = frame_of(session.spark, relation)
            return session.sql(query_text(session.spark, frame, session.tracked.values()))

    def _check_name(self, name: str | None, shown: Shown) -> None:
        """Check that a name has the meaning that it had for a result.

        Raises
        ------
        SourceChangedError
        """
        word = name_parts(name)[-1] if name else None
        later = (text for at, text in self._commands if at > shown._period[0])
        if word and any(re.search(rf"\b{re.escape(word)}\b", text, re.I) for text in later):
            raise SourceChangedError(
                f"{name} has got another meaning since result {shown.number} was shown.\n"
                "Show it again, and ask then."
            )

    def _track(self, name: str | None, leaf: dict[str, Any], shown: Shown | None) -> None:
        session, tracked = self.session, self.session.tracked.values()
        frame = frame_of(session.spark, leaf)
        known = {each.name for each in tracked}
        if name is None:
            sources = [relation_of(session.spark, each.source.frame) for each in tracked]
            respell(session.spark, leaf, sources)
            known = set(map(plan_key, sources))
        versioned = None if name is None else versioned_table(session.spark, name)
        if shown is not None:
            _check_rows(session.spark, frame, shown, versioned and versioned[0])
        if (name or plan_key(leaf)) in known:
            return
        called = name or f"rows_{len(session.tracked) + 1}"
        keys = [self._keys[called]] if called in self._keys else [None, "*"]
        for key in keys:
            try:
                session.track(called, name or frame, key=key)
            except SourceError:
                if key == keys[-1]:
                    raise
            else:
                return


def _check_rows(spark: SparkSession, frame: DataFrame, shown: Shown, table: Any) -> None:
    """Check that a table, or files, are as they were when a result was shown."""
    if table is None:
        check_unchanging(frame, shown.number)
        check_files(spark, frame, shown.number, shown.at)
    elif table.current() != table.at(shown.at):
        raise SourceChangedError(
            f"{table.table} has got another version since result {shown.number} was shown.\n"
            "Show a version of it (VERSION AS OF), or show it again, and ask then."
        )


def _leaves(value: Any) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the relations with rows of their own in a relation, and their names if they have."""
    if isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif isinstance(value, dict):
        read = value.get("read", {})
        if isinstance(read, dict) and "named_table" in read:
            yield read["named_table"]["unparsed_identifier"], value
        elif (isinstance(read, dict) and "data_source" in read) or any(k in value for k in _LEAVES):
            yield None, value
        elif isinstance(value.get("sql"), dict) and "query" in value["sql"]:
            for name in sorted(catalyst.relations_read(value["sql"]["query"]) or ()):
                yield name, {"common": {}, "read": {"named_table": {"unparsed_identifier": name}}}
            yield from _leaves({k: v for k, v in value["sql"].items() if k != "query"})
        else:
            yield from _leaves(list(value.values()))
