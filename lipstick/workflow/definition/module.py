"""Modules, their specifications, and the relations of their schemas.

Source: Amsterdamer et al., *Putting Lipstick on Pig*, PVLDB 5(4), 2011, Definition 2.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from lipstick.workflow.definition.functions import (
    Imports,
    check_allowed,
    check_reference,
    check_runs_no_code,
)
from lipstick.workflow.definition.query import (
    BEFORE,
    NO_STATE,
    FrameFunction,
    Query,
    Sql,
    StateQuery,
    frozen,
)
from lipstick.workflow.errors import DefinitionError
from semiring.support.door import checked

_SYNONYMS = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "real": "float",
    "dec": "decimal",
    "numeric": "decimal",
}
_COLUMN_NAME = re.compile(r"[A-Za-z_]\w*")


@checked
@dataclass(frozen=True, slots=True)
class Relation:
    """The schema of one relation.

    Parameters
    ----------
    columns
        Pairs of name and Spark type (``"decimal(10,2)"``), or a mapping, or DDL text
        (``"CarId string, Model string"``, for types without commas at their top level).
    key
        Columns that identify a tuple: unique and never NULL. They name its nodes.
        None: tuples are identified by their position.
    union
        Whether several edges may lead into the relation: it is the bag union of their tuples.
    optional
        Whether the relation may have no incoming edge: it is then empty.

    Raises
    ------
    DefinitionError
        There are no columns, a column is named twice, or the key is not among the columns.
    """

    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...] = ()
    union: bool = False
    optional: bool = False

    def __init__(
        self,
        columns: str | Mapping[str, str] | Iterable[tuple[str, str]],
        key: str | Iterable[str] | None = None,
        *,
        union: bool = False,
        optional: bool = False,
    ) -> None:
        parsed = _columns(columns)
        names = [name for name, _ in parsed]
        keys = (key,) if isinstance(key, str) else tuple(key or ())
        if not names:
            raise DefinitionError("A relation has at least one column; none is given.")
        twice = sorted({n for n in names if [m.lower() for m in names].count(n.lower()) > 1})
        if twice:
            raise DefinitionError(f"Columns are given twice: {', '.join(twice)}.")
        unknown = [column for column in keys if column not in names]
        if unknown:
            raise DefinitionError(
                f"The key ({', '.join(keys)}) has no column {unknown[0]!r} to be made of.\n"
                f"The columns are: {', '.join(names)}."
            )
        object.__setattr__(self, "columns", parsed)
        object.__setattr__(self, "key", keys)
        object.__setattr__(self, "union", union)
        object.__setattr__(self, "optional", optional)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(name for name, _ in self.columns)

    @property
    def ddl(self) -> str:
        """The columns as Spark's DDL."""
        return ", ".join(f"`{name}` {kind}" for name, kind in self.columns)

    def difference(self, source: Relation) -> str | None:
        """Return the first difference in columns from a relation carried to it as text, or None.

        Columns are compared by position; names and types as Spark reads them.
        """
        pairs = zip(source.columns, self.columns, strict=False)
        for number, (its, column) in enumerate(pairs, start=1):
            if its[0].lower() != column[0].lower() or _plain(its[1]) != _plain(column[1]):
                return (
                    f"column {number} is {its[0]} {its[1]} there and {column[0]} {column[1]} here"
                )
        if len(source.columns) != len(self.columns):
            return f"there are {len(source.columns)} columns there and {len(self.columns)} here"
        return None


def is_name(name: str) -> bool:
    """Return True if a text can name a relation or column in SQL without quotes."""
    return _COLUMN_NAME.fullmatch(name) is not None


def _columns(
    given: str | Mapping[str, str] | Iterable[tuple[str, str]],
) -> tuple[tuple[str, str], ...]:
    if isinstance(given, Mapping):
        return tuple((str(name), str(kind)) for name, kind in given.items())
    if not isinstance(given, str):
        return tuple((str(name), str(kind)) for name, kind in given)
    columns = []
    for part in re.split(r",(?![^(<]*[)>])", given):
        name, _, kind = part.strip().partition(" ")
        if not name or not kind.strip():
            raise DefinitionError(
                f"{part.strip()!r} is not a column: write a name and a type, as in 'CarId string'."
            )
        columns.append((name.strip("`"), kind.strip()))
    return tuple(columns)


def _plain(kind: str) -> str:
    """Return a type's text in canonical spelling."""
    words = re.sub(r"\s+", "", kind.lower())
    return re.sub(r"[a-z_]+", lambda word: _SYNONYMS.get(word[0], word[0]), words)


_NAME = re.compile(r"[\w.\-]+")


@checked
@dataclass(frozen=True, slots=True)
class Specification:
    """The specification of modules of one kind: (S_in, S_state, S_out, Q_state, Q_out).

    Parameters
    ----------
    name
        Of the specification, for messages and files.
    inputs, state, outputs
        The three schemas: relations by name. No name is in two of them.
    query_state
        Q_state; see :class:`StateQuery`. None: the state never changes.
    query_output
        Q_out: a chain of named queries, in order. Those named in ``outputs`` are the output, the
        others are temporary. It reads the input, Q_state's temporary relations, and the *new*
        state; the state as it was is ``before_R``.
    functions
        Functions that the queries call beside Spark's own, by name: where each is defined, as
        ``package.module:function``, made with ``pyspark.sql.functions.udf`` or ``pandas_udf``. They
        are black boxes, over a row or over the bag of a group, and must be deterministic.
    imports
        What the SQL may run beside queries: the Java classes that ``reflect`` may call. True:
        anything, as in SQL that you wrote; a file that is read cannot allow it, see
        :meth:`lipstick.Workflow.read`.

    Raises
    ------
    DefinitionError
        When a name is in two schemas.
        When Q_out leaves out an output or Q_state changes what is not state, or a name has two
        meanings.
    """

    name: str
    inputs: Mapping[str, Relation]
    outputs: Mapping[str, Relation]
    query_output: Mapping[str, Query]
    state: Mapping[str, Relation]
    query_state: StateQuery
    functions: Mapping[str, str]
    imports: Imports = field(default=True, compare=False, repr=False)

    def __init__(
        self,
        name: str,
        inputs: Mapping[str, Relation],
        outputs: Mapping[str, Relation],
        query_output: Mapping[str, Any],
        *,
        state: Mapping[str, Relation] | None = None,
        query_state: StateQuery | None = None,
        functions: Mapping[str, str] | None = None,
        imports: Imports = True,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "inputs", MappingProxyType(dict(inputs)))
        object.__setattr__(self, "outputs", MappingProxyType(dict(outputs)))
        object.__setattr__(self, "state", MappingProxyType(dict(state or {})))
        object.__setattr__(self, "query_output", frozen(query_output, f"Q_out of {name}:"))
        object.__setattr__(self, "query_state", NO_STATE if query_state is None else query_state)
        object.__setattr__(self, "functions", MappingProxyType(dict(functions or {})))
        object.__setattr__(self, "imports", imports)
        self._check_schemas()
        self._check_queries()
        for function, reference in self.functions.items():
            check_reference(name, function, reference)

    @property
    def temporary(self) -> tuple[str, ...]:
        """The relations of the queries that are in no schema, in order."""
        chain = [*self.query_state.relations, *self.query_output]
        return tuple(name for name in chain if name not in self.outputs)

    def check_imports(self) -> None:
        """Refuse functions and other code in a file that its reader has not allowed.

        Raises
        ------
        ImportNotAllowedError
            For the first one.
        """
        for name, reference in self.places.items():
            check_allowed(self.name, name, reference)
        for chain in self._chains:
            for name, query in chain.items():
                if isinstance(query, Sql):
                    check_runs_no_code(self.name, name, query.sql, self.imports)

    @property
    def _chains(self) -> tuple[Mapping[str, Query], ...]:
        query = self.query_state
        return (self.query_output, query.relations, query.delete, query.insert, query.replace)

    @property
    def places(self) -> Mapping[str, str]:
        """The references of the functions that a run imports, by name."""
        frames = {
            f"of {name}": each.reference
            for chain in self._chains
            for name, each in chain.items()
            if isinstance(each, FrameFunction) and each.function is None
        }
        return {**self.functions, **frames}

    def _check_schemas(self) -> None:
        owners: dict[str, tuple[str, str]] = {}
        schemas = {"input": self.inputs, "state": self.state, "output": self.outputs}
        for schema, relations in schemas.items():
            for relation in relations:
                if not is_name(relation) or relation.lower().startswith(BEFORE):
                    raise DefinitionError(
                        f"{self.name}: {relation!r} cannot name a relation.\nA name is made of "
                        f"letters, digits and _, and does not begin with {BEFORE!r}, under which "
                        "the old state is read.",
                        ("specifications", self.name, schema, relation),
                    )
                other = owners.setdefault(relation.lower(), (schema, relation))
                if other[0] != schema or other[1] != relation:
                    raise DefinitionError(
                        f"{self.name}: {relation} is in the {other[0]} and in the {schema} "
                        "schema.\nThe three schemas are disjoint: rename one of the relations.",
                        ("specifications", self.name, schema, relation),
                    )
        for relation, declared in self.state.items():
            if declared.union or declared.optional:
                raise DefinitionError(
                    f"{self.name}: the state relation {relation} is declared 'union' or "
                    "'optional', which only inputs are.",
                    ("specifications", self.name, "state", relation),
                )

    def _check_queries(self) -> None:
        where = ("specifications", self.name)
        missing = [name for name in self.outputs if name not in self.query_output]
        if missing:
            raise DefinitionError(
                f"{self.name}: Q_out does not define the output {missing[0]}.\n"
                f"It defines: {', '.join(self.query_output) or 'nothing'}.",
                (*where, "query_output"),
            )
        for relation in self.query_state.changed:
            if relation not in self.state:
                raise DefinitionError(
                    f"{self.name}: Q_state changes {relation}, which is not a state relation.\n"
                    f"The state is: {', '.join(self.state) or 'empty'}.",
                    (*where, "query_state"),
                )
        taken = {name.lower() for name in (*self.inputs, *self.state)}
        for part, names in (
            ("query_state", self.query_state.relations),
            ("query_output", self.query_output),
        ):
            for name in names:
                reserved = name.lower().startswith(BEFORE) or not is_name(name)
                output_in_state = part == "query_state" and name in self.outputs
                if name.lower() in taken or reserved or output_in_state:
                    raise DefinitionError(
                        f"{self.name}: the chain defines {name}, a name that is "
                        + ("not allowed." if reserved else "taken.")
                        + "\nA chain defines new relations"
                        + (", and Q_out also the outputs." if part == "query_output" else "."),
                        (*where, part, name),
                    )
                taken.add(name.lower())


@checked
@dataclass(frozen=True, slots=True)
class Module:
    """A named module with state of its own.

    Parameters
    ----------
    name
        Unique in a workflow; its invocations are called ``name#1``, ``name#2``...
    specification
        Several modules may share one.

    Raises
    ------
    DefinitionError
        For a name that is not made of letters, digits, ``_``, ``.`` and ``-``.
    """

    name: str
    specification: Specification

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise DefinitionError(
                f"{self.name!r} cannot name a module.\n"
                "A name is made of letters, digits, '_', '.' and '-'."
            )

    @property
    def inputs(self) -> Mapping[str, Relation]:
        """S_in."""
        return self.specification.inputs

    @property
    def state(self) -> Mapping[str, Relation]:
        """S_state."""
        return self.specification.state

    @property
    def outputs(self) -> Mapping[str, Relation]:
        """S_out."""
        return self.specification.outputs
