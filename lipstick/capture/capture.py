"""A capture and the questions it answers, with Spark or without."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lipstick import display
from lipstick.capture.manifest import Manifest, RelationRecord
from lipstick.display.explorer import explore, notebook_bundle, notebook_widget
from lipstick.engines.memory.store import OPEN_WITH_SPARK
from lipstick.engines.protocol import CaptureEngine
from lipstick.errors import NeedsSparkError, NotHeldError
from lipstick.questions.asking import question
from lipstick.questions.keys import Cascade
from lipstick.questions.methods import Questions
from lipstick.questions.what_if import WhatIf
from lipstick.tables.ancestry import Ancestry
from lipstick.tables.derivation import Derivation, Part
from lipstick.tracking.states import local_folder
from lipstick.tracking.unknown_keys import check_keys
from rewriter.blocks import topological
from semiring.arrays.segments import ascending
from semiring.base import Array, Semiring
from semiring.boolean.chances import Probabilities
from semiring.encodings.valuation import Valuation
from semiring.support.door import checked
from semiring.token import Token

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lipstick.engines.memory.memory import Memory
    from lipstick.engines.spark.engine import SparkEngine
    from lipstick.tracking.tracker import Tracked

_OF_ALL_ROWS = {"why_not": "why_not", "dropped": "plan.dropped", "filter": "filter"}
"""The names that captures do not have, because they hold no rows without a part in the answer, and
the places where queries have them."""


@checked
class Capture(Questions["DataFrame | pa.Table"]):
    """A query's annotations on disk: made by ``save``, opened by :func:`lipstick.open`.

    With a SparkSession the answers are Spark data frames; without one they are Arrow tables,
    computed in memory. Both read the same datasets.
    """

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        spark: SparkSession | None = None,
        tracked: Mapping[str, Tracked] = MappingProxyType({}),
    ) -> None:
        self.directory = directory
        self.ancestry = Ancestry(manifest.relations, directory)
        """The relations that the query reads, and what the derived ones were made of."""
        self.manifest = replace(manifest, relations=self.ancestry.relations)
        self.contents = manifest.contents(directory)
        """The files, each checked when it is first read."""
        self.tracked = tracked
        """The relations that the session tracks, by name."""
        self.engine = _engine(self, spark)
        """The engine that answers: on a cluster, or in memory."""
        self._made: dict[Path, Capture] = {}

    @property
    def cluster(self) -> SparkEngine:
        """The engine on a cluster.

        Raises
        ------
        NeedsSparkError
            When the capture was opened without Spark.
        """
        from lipstick.engines.spark.engine import SparkEngine

        if not isinstance(self.engine, SparkEngine):
            raise NeedsSparkError(OPEN_WITH_SPARK)
        return self.engine

    @cached_property
    def memory(self) -> Memory:
        """The in-memory engine over this capture."""
        from lipstick.engines.memory.memory import Memory

        return Memory(self.directory, self.manifest, self.engine.value_lookup(), self.contents)

    @property
    def query(self) -> str:
        """The text of the query."""
        return self.manifest.query

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raise the error for what frames answer and captures do not."""
            if name in _OF_ALL_ROWS:
                raise NotHeldError(
                    f"{name}() reads rows that took no part in the query: no capture holds them."
                    "\nTrack the relations and annotate it again: "
                    f"ls.sql(capture.query).{_OF_ALL_ROWS[name]}(...)."
                )
            if name in ("show", "collect", "count", "toArrow", "toPandas", "columns", "schema"):
                raise NotHeldError(
                    f"A capture has no {name}: its answer is capture.df, a data frame if it was "
                    "opened with Spark,\nelse an Arrow table. Write print(capture.df)."
                )
            return super().__getattr__(name)

    def __repr__(self) -> str:
        return display.capture_text(self)

    def _repr_html_(self) -> str:
        return display.capture_html(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any] | None:
        return notebook_bundle(self)

    def _display_(self) -> Any:
        """Return what marimo shows: the explorer, or the text of a notebook without it."""
        return notebook_widget(self) or SimpleNamespace(_repr_html_=self._repr_html_)

    @question("preparing the explorer")
    def explore(self, to: str | os.PathLike[str] | None = None, *, browser: bool = True) -> Any:
        """Open it in a browser or a notebook; see :func:`lipstick.explore`."""
        return explore(self, to, browser=browser)

    def _token_types(self) -> dict[str, pa.Schema]:
        """Return the token columns of each relation, as members store them."""
        import pyarrow.dataset as ds

        types: dict[str, pa.Schema] = {}
        for block in topological(self.manifest.root):
            if block.core is None:
                continue
            files = self.contents.read(f"{block.name}/members")
            stored = ds.dataset([str(file) for file in files], format="parquet").schema
            for token in block.tokens:
                names = self.manifest.relations[token.relation].token
                fields = [
                    pa.field(its, stored.field(name).type)
                    for name, its in zip(token.columns, names, strict=True)
                ]
                types[token.relation] = pa.schema(fields)
        return types

    # -- derived relations -----------------------------------------------------------------

    def _part_capture(self, derivation: Derivation, part: Part) -> Capture:
        """Return the capture of the query that made a part of a derived relation."""
        path = derivation.capture(part)
        if path not in self._made:
            manifest = self.ancestry.manifest(derivation, part)
            manifest.contents(path).check()
            self._made[path] = Capture(path, manifest, self.engine.spark, self.tracked)
        return self._made[path]

    def _makers(
        self, relation: str, tokens: pa.Table
    ) -> Iterator[tuple[Capture, tuple[str, ...], Array]]:
        """Yield the captures that made rows of a derived relation, given by their tokens.

        Yields
        ------
        The capture, the columns of the relation that its answer gives, and the positions of the
        rows in its answer.
        """
        from lipstick.tables.origins import located

        record = self.manifest.relations[relation]
        if record.derived is None:
            return
        self.ancestry.check_unambiguous([relation])
        derivation = self.ancestry.derivation(record)
        for part, rows, identity in located(derivation, tokens):
            made_by = self._part_capture(derivation, part)
            yield made_by, part.columns, ascending(made_by.memory.find(identity, len(rows)))

    def _part_captures(self, record: RelationRecord) -> list[Capture]:
        """Return the captures of all queries that made a derived relation."""
        derivation = self.ancestry.derivation(record)
        return [self._part_capture(derivation, part) for part in derivation.parts if part.captured]

    def _key_of(self, name: str) -> pa.Schema | None:
        """Return the token columns of a relation of the ancestry; None: no capture has them."""
        own = self._token_types().get(name)
        derived = (r for r in self.manifest.relations.values() if r.derived is not None)
        makers = (maker for record in derived for maker in self._part_captures(record))
        return own or next((key for maker in makers if (key := maker._key_of(name))), None)

    # -- the answer ------------------------------------------------------------------------

    @property
    def df(self) -> DataFrame | pa.Table:
        """The answer, from the capture."""
        return self.engine.answer()

    def annotated(self) -> DataFrame:
        """Return the answer's columns, then ``_prov``, from the captured members.

        Raises
        ------
        NeedsSparkError
            Without Spark.
        """
        return self.engine.annotated()

    @property
    def _captured(self) -> Capture:
        return self

    def _token_weights(
        self, weights: Any, default: Any
    ) -> Callable[[Sequence[Token]], list[float]]:
        """Return the probabilities of tokens, from a valuation by numbers from 0 to 1."""
        from lipstick.questions.valuation import token_weights

        valuations = self._valuations(Probabilities(), weights, default)
        return token_weights(valuations, self.manifest.relations, self._token_types())

    def _valuations(
        self, semiring: Semiring[Any], valuation: Any, default: Any, *, strict: bool = False
    ) -> dict[str, Valuation[Any]]:
        """Compile a valuation per relation, and report keys of theirs that name no row."""
        from lipstick.questions.valuation import compile_valuations, listed

        relations = self.manifest.relations
        compiled = compile_valuations(semiring, valuation, default, relations, self.engine.spark)
        for name in listed(valuation, relations):
            schema = self._token_types().get(name)
            keys = None if schema is None else compiled[name].keys(schema.types)
            if keys is not None:
                table = pa.Table.from_arrays(keys, schema=schema)
                check_keys(self, name, table, strict=strict)
        return compiled

    # -- hypothetical answers --------------------------------------------------------------

    @question("evaluating a deletion")
    def what_if(
        self,
        delete: Mapping[str, Any],
        cascade: Cascade | None = None,
        *,
        strict: bool = False,
        budget: float | None = None,
    ) -> WhatIf[DataFrame | pa.Table]:
        """Return what the answer would be had some inputs not been there.

        Parameters
        ----------
        delete
            Per relation a predicate over its columns or a list of its keys; without Spark, a list
            of keys or an Arrow table of key columns. With Spark, relations that derived ones were
            made of may be named too.
        cascade
            ``{child: (columns, parent)}``: also delete the child's rows that refer to deleted rows
            of the parent. Needs Spark.
        strict
            Refuse keys that name no row, and predicates that select none, in place of a warning.
        budget
            Seconds, after which the question ends in an error; None: as many as it takes. What is
            computed when the answer's rows are read is not part of it.

        Raises
        ------
        TrackingError
            For such keys, when ``strict``.

        Warns
        -----
        UnknownKeyWarning
            For such keys, otherwise. Without Spark, keys of rows that took no part in the query
            are among them: the capture does not know those.
        """
        return self.engine.what_if(delete, cascade, strict=strict)


def _engine(capture: Capture, spark: SparkSession | None) -> CaptureEngine:
    """Return the engine that answers: on a cluster with a session, else in memory."""
    if spark is None:
        from lipstick.engines.local import MemoryEngine

        return MemoryEngine(capture)
    from lipstick.engines.spark.engine import SparkEngine

    return SparkEngine(capture, spark)


@checked
def open_capture(path: str | os.PathLike[str], spark: SparkSession | None = None) -> Capture:
    """Open a saved capture.

    Parameters
    ----------
    path
        The directory that ``save`` wrote.
    spark
        Answers become data frames of this session; None answers in memory, as Arrow tables.

    Raises
    ------
    CaptureDamagedError
        When files are missing, or differ from what was written. Their checksums are compared
        when a question first reads them.
    CaptureError
        When the directory is not a capture, or one of a later version.

    Warns
    -----
    UncheckedWarning
        When it is of format 1, which does not list its files.
    """
    directory = local_folder(path).absolute()
    manifest = Manifest.read(directory)
    manifest.contents(directory).check()
    return Capture(directory, manifest, spark)
