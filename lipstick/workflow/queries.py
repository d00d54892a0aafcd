"""What the queries of a specification read and give, checked without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lipstick.workflow.errors import QueryError, UnknownRelationError, WorkflowError
from lipstick.workflow.module import Specification
from lipstick.workflow.query import BEFORE, Sql
from rewriter.bind import bind
from rewriter.catalog import TrackedRelation
from rewriter.errors import UntrackedError


@dataclass(frozen=True, slots=True)
class Step:
    """One query of a specification, in the order they run.

    Parameters
    ----------
    name
        The relation it defines, or changes.
    part
        ``query_state`` or ``query_output``.
    role
        ``relation`` (of a chain), ``delete``, ``insert`` or ``replace``.
    """

    name: str
    part: str
    role: str
    query: Sql

    @property
    def what(self) -> str:
        """The step in messages."""
        roles = {
            "relation": "the relation",
            "delete": "the deletion from",
            "insert": "the insertion into",
            "replace": "the replacement of",
        }
        return f"{roles[self.role]} {self.name}"


def steps(specification: Specification) -> Iterator[Step]:
    """Yield the queries of a specification in the order they run."""
    state = specification.query_state
    parts = (
        ("relation", state.relations),
        ("replace", state.replace),
        ("delete", state.delete),
        ("insert", state.insert),
    )
    for role, queries in parts:
        for name, query in queries.items():
            yield Step(name, "query_state", role, query)
    for name, query in specification.query_output.items():
        yield Step(name, "query_output", "relation", query)


def check_queries(specification: Specification) -> None:
    """Check the queries of a specification against its schemas.

    Raises
    ------
    UnknownRelationError
        For a query that reads what is no input, no state, and not defined before it.
    QueryError
        For a query that gives another number of columns than its relation has.
    rewriter.errors.QueryError
        For SQL that is not understood, with the place in the text.
    """
    visible = {
        name: relation.names
        for schema in (specification.inputs, specification.state)
        for name, relation in schema.items()
    }
    output = False
    for step in steps(specification):
        if step.part == "query_output" and not output:
            output = True
            old = {f"{BEFORE}{name}": r.names for name, r in specification.state.items()}
            visible |= old
        found = _columns(specification, step, visible)
        if step.role == "relation":
            visible[step.name] = found
        _check_columns(specification, step, found)


class _Catalog:
    """The relations that a step sees; remembers what was asked for in vain."""

    def __init__(self, visible: dict[str, tuple[str, ...]]) -> None:
        self._visible = {name.lower(): (name, columns) for name, columns in visible.items()}
        self.unknown: list[str] = []

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | None:
        found = self._visible.get(".".join(parts).lower())
        if found is None:
            self.unknown.append(".".join(parts))
            return None
        return TrackedRelation(*found)


def _columns(
    specification: Specification, step: Step, visible: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The names of the columns that a step gives; () for a predicate."""
    if step.role == "delete" and not step.query.selects:
        return ()
    if not step.query.selects:
        raise QueryError(
            f"{specification.name}: {step.what} is not a SELECT: {step.query.sql.strip()}",
            (*("specifications", specification.name), *_subject(step)),
        )
    catalog = _Catalog(visible)
    functions = {name.lower() for name in specification.functions}
    try:
        bound = bind(step.query.sql, catalog, functions=functions)
    except UntrackedError as error:
        unknown = catalog.unknown[0] if catalog.unknown else "a relation"
        raise UnknownRelationError(
            f"{specification.name}: {step.what} reads {unknown}, which is not there.\n"
            f"It can read: {', '.join(visible) or 'nothing'}.",
            ("specifications", specification.name, *_subject(step)),
        ) from error
    return tuple(attribute.name for attribute in bound.root.attributes)


def _check_columns(specification: Specification, step: Step, found: tuple[str, ...]) -> None:
    declared = specification.outputs.get(step.name) or specification.state.get(step.name)
    if declared is None or not found:
        return
    expected = declared.names
    if step.role == "delete":
        expected = declared.key or declared.names
    if len(found) != len(expected):
        raise column_error(specification, step, expected, found)


def column_error(
    specification: Specification, step: Step, expected: tuple[str, ...], found: tuple[str, ...]
) -> WorkflowError:
    """The error for a query whose columns are not those of its relation."""
    return QueryError(
        f"{specification.name}: {step.what} gives the columns {', '.join(found)}.\n"
        f"It should give: {', '.join(expected)}.",
        ("specifications", specification.name, *_subject(step)),
    )


def place_error(specification: Specification, step: Step, problem: str) -> WorkflowError:
    """The error for a query that cannot be derived, whose problem is said."""
    return QueryError(
        f"{specification.name}: {step.what} has no place in a graph: {problem}",
        ("specifications", specification.name, *_subject(step)),
    )


def _subject(step: Step) -> tuple[str, ...]:
    if step.part == "query_output":
        return ("query_output", step.name)
    return ("query_state", "relations" if step.role == "relation" else step.role, step.name)
