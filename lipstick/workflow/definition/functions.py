"""Functions that SQL calls beside Spark's own: black boxes, named by where they are defined."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from lipstick.workflow.errors import ImportNotAllowedError, ModuleQueryError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Imports: TypeAlias = str | Collection[str] | bool
"""Modules that may be imported from, with those below them; True: all, False: none."""

_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_CALL = re.compile(r"`?([A-Za-z_]\w*)`?\s*\(")


class Withheld(str):
    """A place of a function that a file or a store names, and that may not be imported from.

    It is the text of the place, so that it is written and compared as any other.
    """

    __slots__ = ()


def place(reference: str, imports: Imports) -> str:
    """Return the place of a function that a file names, withheld unless its module is allowed."""
    module = reference.partition(":")[0]
    return reference if is_allowed(module, imports) else Withheld(reference)


def is_allowed(module: str, imports: Imports) -> bool:
    """Tell whether a module, or a Java class, is one of those that may be imported or below one."""
    if isinstance(imports, bool):
        return imports
    if isinstance(imports, str):
        imports = (imports,)
    return any(module == each or module.startswith(f"{each}.") for each in imports)


def check_allowed(owner: str, name: str, reference: str) -> None:
    """Refuse a place that may not be imported from.

    Raises
    ------
    ImportNotAllowedError
        When whoever read the workflow has not allowed its module.
    """
    if isinstance(reference, Withheld):
        module = reference.partition(":")[0]
        raise ImportNotAllowedError(
            f"{owner}: the function {name} is defined at {reference}, which the file names and "
            "nobody has allowed: importing a module runs it.\n"
            f"If you trust {module}, allow it: Workflow.read(path, imports=[{module!r}]), "
            f"open_run(path, imports=[{module!r}]), or --import {module} on the command line.",
            ("specifications", owner, "functions", name),
        )


def check_reference(owner: str, name: str, reference: str) -> None:
    """Check that a function is named by module and name, without importing it.

    Raises
    ------
    ModuleQueryError
        When it is not.
    """
    if not _REFERENCE.fullmatch(reference):
        raise ModuleQueryError(
            f"{owner}: the function {name} is defined at {reference!r}, which is no place.\n"
            "Name the module and what the function is called in it: 'package.module:function'.",
            ("specifications", owner, "functions", name),
        )


def load(owner: str, name: str, reference: str) -> Any:
    """Import a function that `pyspark.sql.functions.udf`, `pandas_udf` or `udtf` made.

    Raises
    ------
    ModuleQueryError
        When it is not there, or something else.
    """
    where = ("specifications", owner, "functions", name)
    function = imported(owner, name, reference)
    if not (callable(function) and hasattr(function, "evalType")):
        raise ModuleQueryError(
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
    """Import what is at a place.

    Raises
    ------
    ImportNotAllowedError
        When that is not allowed.
    ModuleQueryError
        When it is not there.
    """
    check_allowed(owner, name, reference)
    module, _, attribute = reference.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ModuleQueryError(
            f"{owner}: the function {name} is not found at {reference}: {error}.\n"
            "The module must be importable where the workflow runs.",
            ("specifications", owner, "functions", name),
        ) from error


class Aggregates:
    """Those of a specification's functions that are functions of a group's bag: a container.

    A function is imported when it is asked for; one that is not there is none.
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
        except ModuleQueryError:
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
    """Return the outermost of some functions that an expression calls; None if it calls none.

    One that a data frame has brought has a name that says nothing.
    """
    from lipstick.dataframes import FUNCTION_PREFIX

    known = {name.lower(): name for name in functions}
    for match in _CALL.finditer(text):
        if match[1].lower().startswith(FUNCTION_PREFIX):
            return "function"
        if match[1].lower() in known:
            return known[match[1].lower()]
    return None
