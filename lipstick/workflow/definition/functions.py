"""External code that a workflow's SQL calls, and code that it may not run.

Functions are black boxes, identified by module and name. A query in a file is untrusted, and Spark
has three ways from a query to other code: functions that call a Java method by name, ``TRANSFORM
... USING 'program'``, and ``FROM t INSERT ...``. A text is refused if it contains these words
anywhere, even in comments: a lexer that differs from Spark's in one escape could miss a call.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from lipstick.workflow.errors import DefinitionError, ImportNotAllowedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


Imports: TypeAlias = str | Collection[str] | bool
"""Modules that may be imported from, including their submodules; True: all, False: none."""

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_CALL = re.compile(r"`?([A-Za-z_]\w*)`?\s*\(")


class Withheld(str):
    """A reference to a function, in a file or store, whose module may not be imported.

    It is the text of the reference, so that it is written and compared as any other.
    """

    __slots__ = ()


def place(reference: str, imports: Imports) -> str:
    """Return a reference to a function in a file, withheld unless its module is allowed."""
    module = reference.partition(":")[0]
    return reference if is_allowed(module, imports) else Withheld(reference)


def is_allowed(module: str, imports: Imports) -> bool:
    """Return True if a module or Java class, or a package that it is in, may be imported."""
    if isinstance(imports, bool):
        return imports
    if isinstance(imports, str):
        imports = (imports,)
    return any(module == each or module.startswith(f"{each}.") for each in imports)


def check_allowed(owner: str, name: str, reference: str) -> None:
    """Refuse a reference that may not be imported.

    Raises
    ------
    ImportNotAllowedError
        The reader of the workflow has not allowed its module.
    """
    if isinstance(reference, Withheld):
        module = reference.partition(":")[0]
        raise ImportNotAllowedError(
            f"{owner}: the function {name} is defined at {reference}, which the file names and "
            "you have not allowed: importing a module runs it.\n"
            f"If you trust {module}, allow it: Workflow.read(path, imports=[{module!r}]), "
            f"open_run(path, imports=[{module!r}]), or --import {module} on the command line.",
            ("specifications", owner, "functions", name),
        )


def check_reference(owner: str, name: str, reference: str) -> None:
    """Check that a function is named by module and name, without importing it.

    Raises
    ------
    DefinitionError
        When it is not.
    """
    if not _REFERENCE.fullmatch(reference):
        raise DefinitionError(
            f"{owner}: the function {name} is defined at {reference!r}, which is not a reference.\n"
            "Name the module and the function in it: 'package.module:function'.",
            ("specifications", owner, "functions", name),
        )


def load(owner: str, name: str, reference: str) -> Any:
    """Import a function that `pyspark.sql.functions.udf`, `pandas_udf` or `udtf` made.

    Raises
    ------
    DefinitionError
        The function is missing, or is something else.
    """
    where = ("specifications", owner, "functions", name)
    function = imported(owner, name, reference)
    if not (callable(function) and hasattr(function, "evalType")):
        raise DefinitionError(
            f"{owner}: the function {name} at {reference} has no type of its result.\n"
            "Make it with pyspark.sql.functions.udf, pandas_udf or udtf.",
            where,
        )
    # Workers need not have the module.
    from pyspark import cloudpickle

    module = import_module(reference.partition(":")[0])
    cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return function


def imported(owner: str, name: str, reference: str) -> Any:
    """Import the object of a reference.

    Raises
    ------
    ImportNotAllowedError
        When that is not allowed.
    DefinitionError
        When it is not there.
    """
    check_allowed(owner, name, reference)
    module, _, attribute = reference.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise DefinitionError(
            f"{owner}: the function {name} is not found at {reference}: {error}.\n"
            "The module must be importable where the workflow runs.",
            ("specifications", owner, "functions", name),
        ) from error


class SpecificationAggregates:
    """A container of the aggregates, functions of a group's bag, among a specification's functions.

    Functions are imported lazily; a missing one is not an aggregate.
    """

    def __init__(self, owner: str, functions: Mapping[str, str]) -> None:
        self._owner = owner
        self._functions = {name.lower(): reference for name, reference in functions.items()}

    def __contains__(self, name: object) -> bool:
        reference = self._functions.get(str(name).lower())
        if reference is None:
            return False
        try:
            function = load(self._owner, str(name), reference)
        except ImportNotAllowedError:
            raise
        except DefinitionError:
            return False
        from pyspark.util import PythonEvalType

        kinds = [name for name in dir(PythonEvalType) if name.startswith("SQL_GROUPED_AGG_")]
        return function.evalType in [getattr(PythonEvalType, kind) for kind in kinds]


def register(spark: SparkSession, owner: str, functions: Mapping[str, str]) -> None:
    """Register functions in a session under their names."""
    from lipstick.stages.table_functions import TABLE_FUNCTIONS

    for name, reference in functions.items():
        function = load(owner, name, reference)
        registry = spark.udtf if function.evalType in TABLE_FUNCTIONS else spark.udf
        registry.register(name, function)


def called(text: str, functions: Collection[str]) -> str | None:
    """Return the outermost of some functions that an expression calls, or None.

    A function that comes with a data frame has a generated name.
    """
    from lipstick.dataframes.texts import FUNCTION_PREFIX

    known = {name.lower(): name for name in functions}
    for match in _CALL.finditer(text):
        if match[1].lower().startswith(FUNCTION_PREFIX):
            return "function"
        if match[1].lower() in known:
            return known[match[1].lower()]
    return None


_HIDDEN = r"\s*(?:/\*|--)"
"""A comment, behind which anything may follow."""

_JAVA = re.compile(r"\b(?:try_reflect|reflect|java_method)\b", re.IGNORECASE)
_JAVA_CALL = re.compile(
    r"\b(?:try_reflect|reflect|java_method)\s*\(\s*'([\w.$]+)'\s*,\s*'(\w+)'", re.IGNORECASE
)
_OTHERS = {
    "runs a program (USING '...')": rf"\busing\b(?:\s*r?['\"]|{_HIDDEN})",
    "writes (INSERT)": rf"\binsert\b(?:\s+(?:into|overwrite)\b|{_HIDDEN})",
    "writes (MERGE, DELETE)": rf"\b(?:merge\s+into|delete\s+from)\b|\b(?:merge|delete)\b{_HIDDEN}",
    "calls a function whose name is computed (IDENTIFIER)": rf"\bidentifier\b(?:\s*\(|{_HIDDEN})",
    "has settings put into its text (${...})": r"\$\{",
}
_OTHER = {what: re.compile(pattern, re.IGNORECASE) for what, pattern in _OTHERS.items()}


def check_runs_no_code(owner: str, name: str, sql: str, imports: Imports) -> None:
    """Refuse SQL of a file that does more than query.

    Parameters
    ----------
    owner, name
        The specification and the relation that the SQL defines or changes, for messages.
    imports
        What may be imported: the classes among it may be called by ``reflect`` and its like; True
        allows everything.

    Raises
    ------
    ImportNotAllowedError
        For the first thing that is not allowed.
    """
    if imports is True:
        return
    calls = _JAVA_CALL.findall(sql)
    refused = [(kind, method) for kind, method in calls if not is_allowed(kind, imports)]
    if refused:
        kind, method = refused[0]
        raise _refused(owner, name, f"calls the Java method {kind}.{method}", kind)
    if len(calls) != len(_JAVA.findall(sql)):
        raise _refused(owner, name, "calls a Java method by a name that it does not spell out")
    for what, pattern in _OTHER.items():
        if pattern.search(sql):
            raise _refused(owner, name, what)


def _refused(owner: str, name: str, what: str, kind: str | None = None) -> ImportNotAllowedError:
    allow = "imports=True" if kind is None else f"imports=[{kind!r}]"
    command = "" if kind is None else f", or --import {kind} on the command line"
    return ImportNotAllowedError(
        f"{owner}: the SQL of {name} {what}, which the file says and nobody has allowed.\n"
        f"If you trust the file, allow it: Workflow.read(path, {allow}){command}. Else write the "
        "query without it.",
        ("specifications", owner),
    )
