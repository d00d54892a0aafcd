"""The steps of a specification: the columns that its queries read and return, checked without
Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lipstick.workflow.definition.functions import SpecificationAggregates
from lipstick.workflow.definition.module import Specification
from lipstick.workflow.definition.query import BEFORE, FrameFunction, Query, Sql
from lipstick.workflow.errors import DefinitionError, WorkflowError
from rewriter import Environment, TrackedRelation, bind_query
from rewriter.errors import UnsupportedError, UntrackedError


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
    query: Query

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
    DefinitionError
        A query reads a relation that is neither input nor state nor defined before it.
        The number of a query's columns differs from its relation's.
    rewriter.errors.QueryError
        For SQL that is not understood, with the place in the text.
    """
    visible: dict[str, tuple[str, ...]] = {
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
        columns = _columns(specification, step, visible)
        if step.role == "relation":
            declared = specification.outputs.get(step.name)
            visible[step.name] = declared.names if declared and not columns else columns
        _check_columns(specification, step, columns)


class _Catalog:
    """The relations that a step sees; records failed look-ups.

    ``later``: whether a look-up failed that Spark will resolve: the columns of a relation, or the
    type of one, from which columns follow.
    """

    def __init__(self, visible: dict[str, tuple[str, ...]]) -> None:
        self._visible = {name.lower(): (name, columns) for name, columns in visible.items()}
        self.unknown: list[str] = []
        self.later = False

    def resolve(self, parts: tuple[str, ...]) -> TrackedRelation | None:
        relation = self._visible.get(".".join(parts).lower())
        if relation is None:
            self.unknown.append(".".join(parts))
            return None
        if not relation[1]:
            self.later = True
            return None
        return TrackedRelation(*relation)

    def variable(self, parts: tuple[str, ...]) -> None:
        """Return None: variables belong to sessions, and a module has none."""

    def made_columns(self, function: str) -> None:
        """Return None: no session has the functions yet, so a text names their columns."""

    def column_type(self, relation: str, column: str) -> None:
        """Return None: only Spark knows."""
        self.later = True

    def type_of(self, query: str) -> None:
        """Return None: only Spark knows."""
        self.later = True


def _columns(
    specification: Specification, step: Step, visible: dict[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """Return the names of a step's columns; () for a predicate, or if only Spark knows them.

    Only Spark knows the columns of functions, and of queries that read these.
    """
    if isinstance(step.query, FrameFunction):
        _check_reads(specification, step, step.query.reads(specification.name), visible)
        return ()
    if step.role == "delete" and not step.query.selects:
        return ()
    if not step.query.selects:
        raise DefinitionError(
            f"{specification.name}: {step.what} is not a SELECT: {step.query.text.strip()}",
            (*("specifications", specification.name), *_subject(step)),
        )
    assert isinstance(step.query, Sql)
    catalog = _Catalog(visible)
    functions = {name.lower() for name in specification.functions}
    try:
        aggregates = SpecificationAggregates(specification.name, specification.functions)
        bound = bind_query(
            step.query.sql, Environment(catalog, functions=functions, aggregates=aggregates)
        )
    except UntrackedError as error:
        if catalog.later:
            return ()
        _check_reads(specification, step, catalog.unknown or ["a relation"], visible)
        raise AssertionError("what is unknown is not there") from error
    except UnsupportedError:
        if catalog.later:
            return ()
        raise
    if catalog.later:
        return ()
    return tuple(attribute.name for attribute in bound.root.attributes)


def _check_reads(
    specification: Specification,
    step: Step,
    names: Iterable[str],
    visible: Mapping[str, tuple[str, ...]],
) -> None:
    there = {name.lower() for name in visible}
    for name in names:
        if name.lower() not in there:
            raise DefinitionError(
                f"{specification.name}: {step.what} reads {name}, which is not there.\n"
                f"It can read: {', '.join(visible) or 'nothing'}.",
                ("specifications", specification.name, *_subject(step)),
            )


def _check_columns(specification: Specification, step: Step, columns: tuple[str, ...]) -> None:
    declared = specification.outputs.get(step.name) or specification.state.get(step.name)
    if declared is None or not columns:
        return
    expected = declared.names
    if step.role == "delete":
        expected = declared.key or declared.names
    if len(columns) != len(expected):
        raise column_error(specification, step, expected, columns)


def column_error(
    specification: Specification, step: Step, expected: tuple[str, ...], columns: tuple[str, ...]
) -> WorkflowError:
    """Return the error of a query whose columns differ from its relation's."""
    return DefinitionError(
        f"{specification.name}: {step.what} gives the columns {', '.join(columns)}.\n"
        f"It should give: {', '.join(expected)}.",
        ("specifications", specification.name, *_subject(step)),
    )


def place_error(specification: Specification, step: Step, problem: str) -> WorkflowError:
    """Return the error of a query that a provenance graph cannot represent."""
    return DefinitionError(
        f"{specification.name}: {step.what} has no place in a graph: {problem}",
        ("specifications", specification.name, *_subject(step)),
    )


def _subject(step: Step) -> tuple[str, ...]:
    if step.part == "query_output":
        return ("query_output", step.name)
    return ("query_state", "relations" if step.role == "relation" else step.role, step.name)
