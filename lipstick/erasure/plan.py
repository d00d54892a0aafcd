"""Plans of erasures: what would change, by which statements, and the values to search for."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lipstick import display
from lipstick.erasure.effects import effect_of
from lipstick.erasure.erased_values import values_to_search
from lipstick.erasure.holders import check_holder
from lipstick.erasure.parquet import FORMAT as PARQUET
from lipstick.erasure.parquet import ParquetFolder, parquet_table
from lipstick.erasure.search import size_of_folders
from lipstick.erasure.tables import (
    ErasableTable,
    ErasedTables,
    ErasureHost,
    PlannedTable,
    at_version,
    check_predicate,
    in_order,
    open_table,
)
from lipstick.erasure.value_search import ErasedValues
from lipstick.errors import LipstickError, SourceError
from lipstick.histories.differences import paired_changes
from lipstick.histories.names import resolved
from lipstick.histories.steps import ExecutedStatement, read_statement
from lipstick.tracking.names import Identity, identity_of, plain_name
from lipstick.tracking.states import FileState, local_path, local_state
from lipstick.tracking.tracker import Naming, Tracked
from rewriter.dialect import Query, emit, name_parts, parse
from rewriter.statements import Bags, Statement, names_read
from semiring.support.door import checked

if TYPE_CHECKING:
    from lipstick.erasure.receipt import ErasureReceipt

FORMAT = "lipstick-erasure-plan/1"
Steps = Callable[[str], None]
Differences = tuple[ErasedTables, dict[str, Bags]]


def silent(step: str) -> None:
    """Report nothing."""


@contextmanager
def reported(on_step: Steps | None) -> Iterator[Steps]:
    """Yield the function that is called with each step; None: a line shows them after 2 s."""
    if on_step is not None:
        yield on_step
        return
    with display.progress(after=2.0) as line:
        yield line


@checked
class ErasurePlan:
    """An erasure as it would be done; nothing has changed yet.

    Made by :meth:`lipstick.Session.erase`. The document has values of the erased rows, by which
    leftovers are searched for: delete it once the receipt is made.
    """

    def __init__(
        self, host: ErasureHost, document: Mapping[str, Any], computed: Differences | None = None
    ) -> None:
        if document.get("format") != FORMAT:
            raise LipstickError(f"This is not a plan of an erasure: its format is not {FORMAT!r}.")
        self._host = host
        self.document = dict(document)
        self._differences = computed

    @property
    def id(self) -> str:
        """The name of the erasure: part of the names of its branches and copies."""
        return str(self.document["id"])

    @property
    def spark(self) -> SparkSession:
        """The Spark session that the erasure runs in."""
        return self._host.spark

    @property
    def tables(self) -> list[dict[str, Any]]:
        """By table its names, its rows, how many of them go or change, and what does it."""
        return [
            dict(entry["effect"], name=entry["name"], table=entry["table"])
            for entry in self.document["tables"]
        ]

    @property
    def statements(self) -> list[str]:
        """The statements that :meth:`apply` runs, in their order."""
        return [s for entry in self.document["tables"] for s in entry["effect"]["statements"]]

    def changes(self, table: str) -> DataFrame:
        """Return the rows of a table that go or change: ``_change``, ``old``, ``new``.

        Rows that change rest on others too. They are paired by the table's key; without one, they
        are deleted and added.
        """
        tables, differences = self.computed()
        table = _plain_name(table)
        if table not in differences:
            raise LipstickError(
                f"The erasure has no table {table!r}.\nIt has {', '.join(differences)}."
            )
        return paired_changes(self._host.spark, differences[table], tables.tables[table].key)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the document as JSON, readable by its owner alone."""
        return write_private(Path(path), json.dumps(self.document, indent=2) + "\n")

    def apply(self, on_step: Steps | None = None) -> None:
        """Run the statements; what a stopped run has done already is found and not done again.

        Parameters
        ----------
        on_step
            Called with each step; by default a line shows them where the work takes seconds.

        Raises
        ------
        LipstickError
            When a table has other rows than when the erasure was planned; nothing is changed then.
        """
        from lipstick.erasure.execution import apply_plan

        try:
            with reported(on_step) as say:
                apply_plan(self, say)
        except BaseException:
            self._differences = None  # views of files that may be gone
            raise

    def verify(
        self,
        key: str | os.PathLike[str],
        search: Sequence[str | os.PathLike[str]] = (),
        on_step: Steps | None = None,
        *,
        budget: float | None = None,
    ) -> ErasureReceipt:
        """Search for what should be gone, compute derived tables again, and sign what was found.

        Parameters
        ----------
        key
            A file with the secret that signs the receipt and hashes values.
        search
            Folders and files to search beside the tables and what the plan names.
        on_step
            Called with each step; by default a line shows them where the work takes seconds.
        budget
            The seconds that files are searched for; what is left then is in the receipt as not
            searched, and the verdict is at best ``unclear``.
        """
        from lipstick.erasure.verification import verify_plan

        with reported(on_step) as say:
            places = list(map(str, search))
            return verify_plan(self._host, self.document, Path(key), places, say, budget)

    def computed(self, on_step: Steps = silent) -> tuple[ErasedTables, dict[str, Bags]]:
        """Return the tables, and by table what goes and comes; computed once."""
        if self._differences is None:
            tables = ErasedTables(self._host, planned_tables(self.document), on_step)
            self._differences = tables, tables.differences()
        return self._differences

    def __repr__(self) -> str:
        parts = (
            f"{entry['name']}: {entry['effect']['removed']} rows go, "
            f"{entry['effect']['changed']} change"
            for entry in self.document["tables"]
        )
        return f"<lipstick erasure {self.id}; {'; '.join(parts)}>"


def planned_tables(document: Mapping[str, Any]) -> list[PlannedTable]:
    """Return the tables of a plan."""
    return [PlannedTable.from_json(entry["definition"]) for entry in document["tables"]]


def erased_values(document: Mapping[str, Any]) -> list[ErasedValues]:
    """Return the values of erased rows that a plan has."""
    return [
        ErasedValues(
            entry["relation"],
            entry["column"],
            tuple(entry["values"]),
            bool(entry.get("in_column")),
        )
        for entry in document["values"]
    ]


def write_private(path: Path, text: str) -> Path:
    """Write a file that its owner alone can read; it is there as a whole or not at all."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(path)
    return path


# --- making a plan ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """The rows to erase, and how; see :meth:`lipstick.Session.erase`."""

    delete: Mapping[str, str]
    derived: Mapping[str, str | Sequence[str | ExecutedStatement]]
    key: Mapping[str, str | Sequence[str]]
    identify: Mapping[str, Sequence[str]]
    paths: Mapping[str, str]
    search: Sequence[str]
    drop: Sequence[str]
    in_place: bool


def make_plan(
    host: ErasureHost, tracked: Mapping[str, Tracked], request: ErasureRequest, on_step: Steps
) -> ErasurePlan:
    """Plan an erasure."""
    delete = request.delete
    tables = in_order(host.spark, _planned(host, tracked, request))
    for path in request.drop:
        check_holder(Path(path))
    if not request.in_place:
        _check_branches(tables)
    erased = ErasedTables(host, tables, on_step)
    erased.check()
    differences = erased.differences()
    if not any(bags.changed for bags in differences.values()):
        raise LipstickError(f"No row matches: {dict(delete)!r}. There is nothing to erase.")
    made, entries = secrets.token_hex(4), []
    for table in tables:
        on_step(f"counting {table.name}")
        bags, states = differences[table.name], _states(table, tracked.get(table.name), erased)
        entries.append(
            {
                "name": table.name,
                "table": table.table,
                "definition": table.to_json(),
                "effect": effect_of(host, table, bags, states, made, in_place=request.in_place),
            }
        )
    on_step("collecting the values to search for")
    values, skipped = values_to_search(host.spark, tables, differences, request.identify)
    named = [str(Path(path).absolute()) if "://" not in path else path for path in request.search]
    count, size = size_of_folders([*(each.location for each in erased.opened.values()), *named])
    return ErasurePlan(
        host,
        {
            "format": FORMAT,
            "id": made,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "in_place": request.in_place,
            "tables": entries,
            "values": [asdict(each) for each in values],
            "not_searched_for": skipped,
            "search": named,
            "seen": [path for path in named if Path(path).exists()],
            "to_search": {"files": count, "bytes": size},
            "drop": [str(Path(path).absolute()) for path in request.drop],
        },
        (erased, differences),
    )


def _planned(
    host: ErasureHost, tracked: Mapping[str, Tracked], request: ErasureRequest
) -> list[PlannedTable]:
    """Return the tables of an erasure, each once, whose queries and statements name them.

    Raises
    ------
    LipstickError
        For what is given of tables that are not among them, or are among them twice.
    """
    request = _by_derived(host, request)
    derived = [_derived(host, request, name) for name in request.derived]
    found = {(table.format, table.identity): table for table in derived}
    if len(found) < len(derived):
        raise LipstickError("Two of the derived tables are one.\nGive each once, by one name.")
    names = {table.name.lower(): table.name for table in derived}
    sources = sorted(
        _sources(host, tracked, request.delete), key=lambda each: each.predicate is None
    )
    for source in sources:
        known = found.setdefault((source.format, source.identity), source)
        if known is source and source.name.lower() in names:
            raise LipstickError(
                f"{source.name!r} is tracked, and is a derived table that is another.\n"
                f"untrack({source.name!r}), or name the derived table in full."
            )
        if known is not source and source.predicate is not None:
            raise LipstickError(
                f"Rows of {source.name!r} are to be erased, which is {known.name!r} by another "
                "name.\nName it once."
            )
        names[source.name.lower()] = known.name
    return [_reading(host, table, names, found) for table in found.values()]


def _by_derived(host: ErasureHost, request: ErasureRequest) -> ErasureRequest:
    """Return a request whose keys and paths are by the names of the derived tables as given."""
    known = {name.lower(): name for name in request.derived}
    identities = {identity_of(host.spark, name_parts(name)): name for name in request.derived}

    def own(name: str) -> str:
        identity = identity_of(host.spark, name_parts(name))
        found = known.get(name.lower()) or (identity and identities.get(identity))
        if not found:
            raise LipstickError(
                f"{name!r} is none of the derived tables: {', '.join(request.derived) or 'none'}."
            )
        return found

    catalog, key = host.catalog(), {}
    for name, columns in request.key.items():
        tracked = catalog.relation(tuple(name_parts(name)))
        if tracked is None or name.lower() in known or _is_derived(tracked, identities):
            key[own(name)] = columns  # else a source, which has its own
    paths = {own(name): path for name, path in request.paths.items()}
    return replace(request, key=key, paths=paths)


def _is_derived(tracked: Tracked, identities: Container[Identity | None]) -> bool:
    return tracked.source.identity is not None and tracked.source.identity in identities


def _reading(
    host: ErasureHost,
    table: PlannedTable,
    names: Mapping[str, str],
    tables: Mapping[tuple[str, str], PlannedTable],
) -> PlannedTable:
    """Return a table whose query and statements say which planned tables the names in them mean.

    Parameters
    ----------
    names
        By name in lower case, that of a planned table, which may be another.
    """
    catalog = host.catalog()

    def reads(read: Statement | Query) -> dict[str, str]:
        found = dict[str, str]()
        for name, parts in names_read(read).items():
            own = catalog.relation(parts)
            known = names.get(name if own is None else own.name.lower())
            if known is None and (opened := _opened(host, parts)) is not None:
                planned = tables.get((opened.format, opened.identity))
                known = None if planned is None else planned.name
            if known is not None and known.lower() != name:
                found[name] = known.lower()
        return found

    if table.query is not None:
        written = parse(table.query)
        query, _ = resolved(written, catalog, names)
        text = table.query if query is written else emit(query)
        return replace(table, query=text, reads=reads(query))
    executed = (
        replace(
            each, reads={**reads(read_statement(host.spark, each.text, each.moments)), **each.reads}
        )
        for each in table.statements
    )
    return replace(table, statements=tuple(executed))


def _opened(host: ErasureHost, parts: Sequence[str]) -> ErasableTable | None:
    try:
        return open_table(host.spark, plain_name(parts))
    except (SourceError, PySparkException):
        return None


def _check_branches(tables: Sequence[PlannedTable]) -> None:
    for table in tables:
        if table.format == PARQUET:
            raise LipstickError(
                f"{table.table} is plain Parquet, which has no branches.\n"
                "Erase in place: in_place=True."
            )


def _states(
    table: PlannedTable, tracked: Tracked | None, erased: ErasedTables
) -> Sequence[FileState]:
    """Return the states of the files of a table, as they were when it was tracked."""
    pinned = tracked.source.versions if tracked is not None else ()
    if pinned and pinned[0].files:
        return pinned[0].files
    files = erased.opened[table.name].files(table.version)
    return [state for file in files if (state := local_state(file)) is not None]


def _sources(
    host: ErasureHost, tracked: Mapping[str, Tracked], delete: Mapping[str, str]
) -> Iterator[PlannedTable]:
    """Yield the tracked relations that rows can be erased from, with what is erased from each."""
    predicates = {name.lower(): text for name, text in delete.items()}
    names = {name.lower() for name in tracked}
    for name in delete:
        if name.lower() not in names:
            raise LipstickError(
                f"{name!r} is not tracked.\nls.track({name!r}, ...) before erasing from it."
            )
    for name, known in tracked.items():
        predicate = predicates.get(name.lower())
        table = known.source.version or _plain_files(host, known)
        if table is not None:
            yield _source(host, known, table, predicate)
        elif predicate is not None:
            raise LipstickError(
                f"{name!r} ({known.source.description}) is not a table of Delta or Iceberg and no "
                "local folder of Parquet files: its rows are not erased in place or apart.\n"
                "Erase them where they come from, and track what is left."
            )


def _plain_files(host: ErasureHost, known: Tracked) -> ParquetFolder | None:
    """Return the plain Parquet that a relation is, as it is; None: it is something else."""
    place = known.source.place
    if place is None or known.source.versions or known.derived is not None:
        return None
    try:
        return parquet_table(host.spark, place)
    except (SourceError, PySparkException):
        return None


def _source(
    host: ErasureHost, known: Tracked, table: ErasableTable, predicate: str | None
) -> PlannedTable:
    name = known.name
    if predicate is not None:
        check_predicate(host.spark, name, predicate)
    version = table.current()
    if isinstance(table, ParquetFolder):
        now = [state for file in table.files(version) if (state := local_state(file)) is not None]
        then = known.source.fingerprint
        files, tracked = ({(local_path(uri), *rest) for uri, *rest in each} for each in (now, then))
        same = files == tracked
    else:
        same = version == known.source.versions[0].version
    if not same:
        raise LipstickError(
            f"The table of {name!r} has moved on since it was tracked.\n"
            f"untrack({name!r}), track it again, and plan anew."
        )
    named = known.naming is Naming.KEY and known.verified
    return PlannedTable(
        name,
        table.table,
        table.format,
        table.identity,
        version,
        known.token if named else (),
        predicate,
    )


def _plain_name(name: str) -> str:
    """Return a dotted name without backticks, as histories know a table.

    Raises
    ------
    LipstickError
        For a part with a dot or a backtick in it.
    """
    parts = name_parts(name)
    if any("." in part or "`" in part for part in parts):
        raise LipstickError(f"The name {name} has a dot or a backtick within a part.\nRename it.")
    return ".".join(parts)


def _derived(host: ErasureHost, request: ErasureRequest, name: str) -> PlannedTable:
    what, columns = request.derived[name], request.key.get(name, ())
    opened = open_table(host.spark, request.paths.get(name, name))
    named = (columns,) if isinstance(columns, str) else tuple(columns)
    table = PlannedTable(_plain_name(name), "", "", "", None, named)
    if isinstance(what, str):
        return at_version(replace(table, query=what.strip().rstrip(";")), opened)
    executed = tuple(
        each if isinstance(each, ExecutedStatement) else ExecutedStatement(each) for each in what
    )
    versions = tuple(each.version for each in opened.history())
    return at_version(replace(table, statements=executed, versions=versions), opened)
