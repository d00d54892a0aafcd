"""Watched sessions over Spark Connect, whose plans of writes stay in the server.

What a client sees are the calls that show rows, and the commands that give names another meaning.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NoReturn

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lipstick import display
from lipstick.dataframes import query_text
from lipstick.dataframes.connect import plan_key, respell
from lipstick.dataframes.messages import as_data, frame_of, relation_of
from lipstick.engines.spark.local_session import unlog_own_errors
from lipstick.errors import (
    LipstickError,
    SourceChangedError,
    SourceError,
    first_line,
    readable_types,
)
from lipstick.frame import AnnotatedFrame
from lipstick.sessions import Session
from lipstick.stages.settings import put_back_settings, settings_now
from lipstick.tracking.formats.probe import versioned_table
from lipstick.tracking.names import identity_of, is_table
from lipstick.watching.calls import notice, notice_commands
from lipstick.watching.shown import Shown, ShownResults, check_files, check_unchanging
from rewriter.dialect import name_parts
from rewriter.frames import catalyst
from semiring.support.door import checked

_SETS = re.compile(r"\b(?:RE)?SET\b", re.IGNORECASE)
_RENAMES = re.compile(r"\s*(?:CREATE|DROP|ALTER|REPLACE|USE|SET)\b", re.IGNORECASE)
_USES = re.compile(r"\s*(?:USE|SET\s+CATALOG)\b", re.IGNORECASE)
_LONGEST = 60
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
        self._copies: dict[frozenset[tuple[str, str]], tuple[float, Session]] = {}
        self._sessions: list[Session] = []
        self._copy: Session | None = None
        self._settings: Mapping[str, str] | None = None
        self._commands: list[tuple[float, str]] = []
        self._closed = False
        self._ends = [
            notice(spark, lambda call: self._add_shown(call, call.frame, self._settings_now())),
            notice_commands(spark, self._add_command),
        ]

    @property
    def session(self) -> Session:
        """The session that the last question was asked in, over a copy of that in the server.

        There is a copy for each set of settings by which questions are asked.
        """
        self._check_open()
        return self._copy or self._ask_by(self._settings_now(), time.time())

    def _settings_now(self) -> Mapping[str, str]:
        """Return the settings of the session, asked for again where a command may change them."""
        if self._settings is None:
            self._settings = settings_now(self.spark)
        return self._settings

    def _ask_by(self, settings: Mapping[str, str], at: float) -> Session:
        """Return the session with some settings, in which questions are asked now.

        Parameters
        ----------
        at
            The time, in seconds since 1970, whose names it has to have.
        """
        key = frozenset(settings.items())
        made, session = self._copies.get(key, (0.0, None))
        if session is None or any(made < since < at for since, _ in self._commands):
            clone = getattr(self.spark, "cloneSession", None)
            if clone is None:
                raise LipstickError(
                    "Questions about a session of Spark Connect are asked in a copy of it, which "
                    "PySpark makes from 4.2 on.\nInstall a later PySpark, or track the relations "
                    "in a session of your own (lipstick.session)."
                )
            copy = clone()
            put_back_settings(copy, settings)
            session = Session(copy, self._store)
            self._copies[key] = time.time(), session
            self._sessions.append(session)
        self._copy = session
        return session

    @property
    def sources(self) -> dict[str, str]:
        """By tracked source that a question has met, the reason why it goes no further back."""
        reason = "over Spark Connect the plans of writes are in the server"
        met = (session.tracked for session in self._sessions)
        return dict.fromkeys(chain.from_iterable(met), reason)

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
        self._ask_by(self._settings_now(), time.time())
        return self._annotated(relation_of(self.spark, frame), None)

    def close(self) -> None:
        """Stop watching, and forget what was tracked."""
        if self._closed:
            return
        self._closed = True
        for end in self._ends:
            end()
        self._shown.clear()
        for session in self._sessions:
            copy = session.spark
            session.close()
            with suppress(PySparkException):  # its stop() would stop a server of this process
                copy.client.release_session()
            copy.client.close()  # an open one asks a server that has stopped, for minutes, at exit

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
        of_plan = hasattr(command, "root")
        if of_plan and command.root.WhichOneof("rel_type") != "catalog":
            return
        data = as_data(command)
        if of_plan:
            self._add_operation(data["root"]["catalog"], at)
            return
        if data.keys() & {"set", "unset"}:
            self._settings = None
        view = data.get("create_dataframe_view", {}).get("name")
        text = data.get("sql_command", {})
        text = text.get("sql") or text.get("input", {}).get("sql", {}).get("query") or ""
        if _SETS.search(text):
            self._settings = None
        if view or _RENAMES.match(text):
            self._commands.append((at, text or f"CREATE VIEW {view}"))

    def _add_operation(self, operation: dict[str, Any], at: float) -> None:
        """Note an operation on a catalog as the statement that does the same."""
        for kind, message in operation.items():
            if kind.startswith("drop_"):
                self._commands.append((at, f"DROP VIEW {message['view_name']}"))
            elif kind.startswith("set_current_"):
                (name,) = message.values()
                self._commands.append((at, f"USE {name}"))

    def _query_of(self, shown: Shown) -> AnnotatedFrame:
        self._check_open()
        self._ask_by(shown._settings, shown._period[0])
        frame = shown._plan
        if shown._name == "count":
            frame = frame.groupBy().agg(F.count(F.lit(1)).alias("count"))
        return self._annotated(relation_of(self.spark, frame), shown)

    def _annotated(self, relation: dict[str, Any], shown: Shown | None) -> AnnotatedFrame:
        """Annotate a relation, as it was when it was shown; None: as it is now."""
        session = self.session
        with readable_types(), display.progress(after=2.0) as line:
            for name, leaf in _leaves(relation):
                if shown is not None:
                    self._check_name(name, shown)
                line(f"tracking {name or 'rows'}")
                try:
                    with readable_types():
                        self._track(name, leaf, shown)
                except PySparkException as error:
                    raise SourceChangedError(
                        f"{name or 'What was shown'} cannot be read any more: {first_line(error)}\n"
                        "Make it again, show what is read from it, and ask then."
                    ) from error
            frame = frame_of(session.spark, relation)
            return session.sql(query_text(session.spark, frame, session.tracked.values()))

    def _check_name(self, name: str | None, shown: Shown) -> None:
        """Check that a name has the meaning that it had for a result.

        Raises
        ------
        SourceChangedError
        """
        parts = name_parts(name) if name else ()
        later = [text for at, text in self._commands if at > shown._period[0]]
        names = (rf"\b{re.escape(part)}\b" for part in parts[-1:])
        changed = next((t for name in names for t in later if re.search(name, t, re.I)), None)
        if changed is None and parts and any(map(_USES.match, later)):
            # The name of a temporary view has no other meaning in another schema.
            identity = identity_of(self.session.spark, parts)
            moved = identity is None or (is_table(identity) and len(parts) < len(identity))
            changed = next(filter(_USES.match, later)) if moved else None
        if changed is not None:
            raise SourceChangedError(
                f"{name} may mean something else than when result {shown.number} was shown, since "
                f"{' '.join(changed.split())[:_LONGEST]!r}.\nShow it again, and ask then."
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
