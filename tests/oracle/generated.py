"""Generated queries held against DuckDB without Spark, from a seed.

``python -m tests.oracle.generated 0-200 5041`` holds many and says what became of them.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb
import sqlglot

from lipstick.engines.memory.memory import Memory
from lipstick.errors import CaptureError, NeedsSparkError
from rewriter.errors import UnsupportedError
from semiring.expression import Expression
from semiring.semirings import Counting
from semiring.token import Token
from tests.oracle.captured import check_captured
from tests.oracle.database import Database, Deletion, Key
from tests.oracle.deletion import UNRELATED, deletion_sets
from tests.oracle.duck import Duck, loosened
from tests.oracle.generator import Case, generate
from tests.oracle.rows import Bag, assert_same_bag, from_arrow
from tests.oracle.written import deleted_tokens, written

DELETIONS: Final = 5
_ANNOTATED: Final = 200
"""Annotations of longer answers are not evaluated one by one."""


@dataclass(slots=True)
class Held:
    """What has been held of generated queries.

    Attributes
    ----------
    queries
        By what became of them: held, refused, or not known to DuckDB.
    asked, changed
        Deletions of something, and those that changed an answer.
    memory
        Deletions by what became of them in memory: answered, or in need of Spark.
    reasons
        Why DuckDB does not know queries, and why Spark is needed.
    annotated
        Deletions for which the annotations were evaluated row by row.
    """

    queries: Counter[str] = field(default_factory=Counter)
    asked: int = 0
    changed: int = 0
    memory: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    annotated: int = 0

    def __str__(self) -> str:
        return (
            f"{_counted(self.queries)}; {self.changed} of {self.asked} deletions changed the"
            f" answer; in memory: {_counted(self.memory)}; {self.annotated} by annotations"
        )

    def hold(self, case: Case) -> None:
        """Hold a query: by the statements of its capture, in memory, and by its annotations.

        Raises
        ------
        AssertionError
            With the statement, the deletion, and the rows that are missing or unexpected.
        """
        with tempfile.TemporaryDirectory(prefix="generated-") as directory:
            try:
                memory, deletions = self._captured(case, Path(directory))
            except UnsupportedError:
                self.queries["refused"] += 1
                return
            except (duckdb.Error, sqlglot.errors.SqlglotError) as error:
                self.queries["not known to DuckDB"] += 1
                self.reasons[str(error).split("\n")[0][:90]] += 1
                return
            self.queries["held"] += 1
            if memory is not None:
                self._in_memory(case, memory, deletions)

    def _captured(self, case: Case, directory: Path) -> tuple[Memory | None, list[Deletion]]:
        memory: Memory | None = None
        lineage: dict[str, frozenset[Key]] = {}
        try:
            memory = written(case.sql, case.database, directory)
            lineage = _lineage(memory, case.database)
        except NeedsSparkError as error:
            self._needs_spark(error)
        deletions = deletion_sets(
            random.Random(case.seed),
            case.database,
            lineage,
            count=DELETIONS,
            compared=case.compared,
            subtracted=case.subtracted,
            exact=case.exact,
        )
        related = [deletion for deletion in deletions if deletion.kind != UNRELATED]
        changed = check_captured(case.sql, case.database, related)
        self.asked += sum(len(deletion) > 0 for deletion in related)
        self.changed += changed
        unrelated = [deletion for deletion in deletions if deletion.kind == UNRELATED]
        if check_captured(case.sql, case.database, unrelated):
            raise AssertionError(f"rows outside of the lineage matter: {unrelated}\n{case.sql}")
        return memory, deletions

    def _in_memory(self, case: Case, memory: Memory, deletions: Sequence[Deletion]) -> None:
        duck = Duck(case.database)
        try:
            before = from_arrow(memory.answer())
        except NeedsSparkError as error:
            self._needs_spark(error)
            return
        _assert_same(loosened(duck.answer(case.sql)), loosened(before), f"captured\n{case.sql}")
        annotated = _annotations(case, memory, before)
        for deletion in deletions:
            what = f"deleting {deletion}\n{case.sql}"
            expected = loosened(duck.answer(case.sql, deletion))
            if annotated is not None:
                left = Bag(before.columns, before.types, _left(annotated, deletion))
                _assert_same(expected, loosened(left), f"by annotations, {what}")
                self.annotated += 1
            try:
                answer = from_arrow(memory.what_if(deleted_tokens(case.database, deletion)).df)
            except NeedsSparkError as error:
                self._needs_spark(error)
                continue
            _assert_same(expected, loosened(answer), f"in memory, {what}")
            self.memory["answered"] += 1

    def _needs_spark(self, error: CaptureError) -> None:
        self.memory["needs Spark"] += 1
        self.reasons[str(error).split("\n")[0][:90]] += 1


def _lineage(memory: Memory, database: Database) -> dict[str, frozenset[Key]]:
    """Return the keys of the rows that an answer depends on, by relation."""
    keys_by_name = {}
    for name, table in memory.lineage().items():
        columns = [column.to_pylist() for column in table.columns]
        keys_by_name[name] = frozenset(zip(*columns, strict=True))
        unknown = keys_by_name[name].difference(database.relations[name].row_keys())
        if unknown:
            raise AssertionError(f"lineage names rows that {name} does not have: {unknown}")
    return keys_by_name


Annotated = Sequence[tuple[tuple[object, ...], Expression]]


def _annotations(case: Case, memory: Memory, before: Bag) -> Annotated | None:
    """Return the rows of an answer with annotations that say all there is to say of deletions.

    None where rows may appear, or have other values.
    """
    stable = all(output.stable for output in memory.blocks[-1].outputs)
    if not case.exact or not stable or len(before) > _ANNOTATED:
        return None
    annotated = memory.annotations()
    return [(tuple(row.values()), Expression.of(annotation)) for row, annotation in annotated]


def _left(annotated: Annotated, deletion: Deletion) -> tuple[tuple[object, ...], ...]:
    """Return the rows that annotations leave, each as often as it counts."""
    gone = {Token(name, key) for name, keys in deletion.keys.items() for key in keys}
    rows: list[tuple[object, ...]] = []
    for row, annotation in annotated:
        rows += [row] * annotation.evaluate(Counting(), lambda token: int(token not in gone))
    return tuple(rows)


def _assert_same(expected: Bag, actual: Bag, message: str) -> None:
    assert_same_bag(Bag(actual.columns, actual.types, expected.rows), actual, message)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common()) or "none"


def _seeds(arguments: Sequence[str]) -> Iterator[int]:
    for argument in arguments:
        first, _, last = argument.partition("-")
        yield from range(int(first), int(last or int(first) + 1))


def main(arguments: Sequence[str]) -> None:
    """Hold the queries of seeds and ranges of seeds; print those that fail, and what was held."""
    run, failed = Held(), 0
    for seed in _seeds(arguments):
        case = generate(seed)
        try:
            run.hold(case)
        except Exception as error:  # the next seed is worth asking about
            failed += 1
            print(f"seed {seed}: {type(error).__name__}: {error}\n{case.sql}\n", flush=True)
    print(f"{failed} failed; {run}")
    for reason, count in run.reasons.most_common(20):
        print(f"{count:6} {reason}")


if __name__ == "__main__":
    main(sys.argv[1:])
