"""Constraints of Deequ and PyDeequ: as calls (``.isUnique("id")``), and as results in JSON."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lipstick.errors import CaptureError
from lipstick.questions.checks.check import (
    CheckBuilder,
    DataCheck,
    ValueBounds,
    WrittenCheck,
    bounded,
)

_ROWS: Mapping[str, tuple[str, str]] = {
    "isComplete": ("column", "x IS NULL"),
    "hasCompleteness": ("column assertion", "x IS NULL"),
    "isContainedIn": ("column values assertion", "x IS NOT NULL AND NOT (x IN (:values))"),
    "isNonNegative": ("column assertion", "coalesce(CAST(x AS DECIMAL(20, 10)), 0.0) < 0"),
    "isPositive": ("column assertion", "coalesce(CAST(x AS DECIMAL(20, 10)), 1.0) <= 0"),
    "isLessThan": ("column column assertion", "NOT coalesce(x0 < x1, false)"),
    "isLessThanOrEqualTo": ("column column assertion", "NOT coalesce(x0 <= x1, false)"),
    "isGreaterThan": ("column column assertion", "NOT coalesce(x0 > x1, false)"),
    "isGreaterThanOrEqualTo": ("column column assertion", "NOT coalesce(x0 >= x1, false)"),
    "hasPattern": (
        "column pattern assertion name",
        "coalesce(regexp_extract(x, :pattern, 0), '') = ''",
    ),
    "satisfies": ("condition name assertion", ""),
    "areComplete": ("columns", " OR "),
    "haveCompleteness": ("columns assertion", " OR "),
    "areAnyComplete": ("columns", " AND "),
    "haveAnyCompleteness": ("columns assertion", " AND "),
}
"""From a constraint on the share of rows that comply to its parameters, and to the condition of
rows that do not; or to the word between the conditions that columns are NULL."""

_GROUPS: Mapping[str, tuple[str, str]] = {
    "isUnique": ("column", ""),
    "isPrimaryKey": ("columns", ""),
    "hasUniqueness": ("columns assertion", "sum(CASE WHEN n = 1 THEN 1 ELSE 0 END) / sum(n)"),
    "hasDistinctness": ("columns assertion", "count(*) / sum(n)"),
    "hasUniqueValueRatio": (
        "columns assertion",
        "sum(CASE WHEN n = 1 THEN 1 ELSE 0 END) / count(*)",
    ),
}
"""From a constraint on values that several rows have to its parameters, and its value, from the
number ``n`` of rows of each value."""

_VALUES: Mapping[str, tuple[str, str]] = {
    "hasSize": ("assertion", "count(*)"),
    "hasMean": ("column assertion", "avg(x)"),
    "hasSum": ("column assertion", "sum(x)"),
    "hasMin": ("column assertion", "min(x)"),
    "hasMax": ("column assertion", "max(x)"),
    "hasStandardDeviation": ("column assertion", "stddev_pop(x)"),
    "hasMinLength": ("column assertion", "min(length(x))"),
    "hasMaxLength": ("column assertion", "max(length(x))"),
    # A histogram counts NULL as a value.
    "hasNumberOfDistinctValues": (
        "column assertion binningUdf maxBins",
        "count(DISTINCT coalesce(CAST(x AS STRING), 'NullValue'))",
    ),
    "hasApproxCountDistinct": ("column assertion", "count(DISTINCT x)"),
    "hasCorrelation": ("column column assertion", "corr(x0, x1)"),
    "hasApproxQuantile": ("column quantile assertion", "percentile(x, :quantile)"),
}
"""From a constraint with an assertion to its parameters, and to the value that is asserted."""

_KEYWORDS = {
    "columnA": "column",
    "columnB": "column",
    "column": "column",
    "columns": "columns",
    "columnCondition": "condition",
    "constraintName": "name",
    "allowed_values": "values",
}
"""From the parameters of PyDeequ to those above."""

_CONSTRAINT = re.compile(r"(is|has|are|have|contains)[A-Z]|satisfies$|\w+Satisfies$")
"""The names of methods that are constraints, whether they are read here or not."""

_ONE = ValueBounds(1, 1)

_RESULT = re.compile(r"(\w+)Constraint\((\w+)\((.*)\)\)$", re.DOTALL)

_COLUMNS = re.compile(r"List\(([^)]*)\)|([^,]+)")
"""The columns of a result."""


class DeequConstraints:
    """The constraints of a file: results of a verification in JSON, or calls in Python."""

    def read(self, path: Path, relation: str | None) -> Iterator[WrittenCheck]:
        """Yield the constraints; see :class:`CheckReader`."""
        if relation is None:
            raise CaptureError("Constraints of Deequ name no relation: say which, relation=...")
        text = path.read_text("utf-8")
        try:
            documents = json.loads(text)
        except ValueError:
            documents = None
        if documents is None:
            yield from _calls(text, relation)
        else:
            yield from _results(documents, path, relation)


def _calls(text: str, relation: str) -> Iterator[WrittenCheck]:
    """Yield the constraints of calls, in the order of the text.

    Raises
    ------
    CaptureError
        For texts that are not Python.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    joined = "check" + "".join(lines) if text.lstrip().startswith(".") else text
    try:
        tree = ast.parse(joined)
    except SyntaxError as error:
        raise CaptureError(f"The constraints are neither JSON nor Python: {error}") from error
    calls = [
        (node, node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    filters = {id(method.value): call for call, method in calls if method.attr == "where"}
    for call, method in sorted(calls, key=_end):
        if _CONSTRAINT.match(method.attr):
            arguments = [ast.unparse(each) for each in (*call.args, *call.keywords)]
            name = f"{method.attr}({', '.join(arguments)})"
            where = filters.get(id(call))
            if where is not None:
                name += f".where({', '.join(ast.unparse(each) for each in where.args)})"

            def read(
                call: ast.Call = call, name: str = name, where: ast.Call | None = where
            ) -> DataCheck:
                condition = None if where is None else str(_literal(where.args[0], "where"))
                return _call(name, call, condition, relation)

            yield WrittenCheck(name, (relation,), read)


def _end(call: tuple[ast.Call, ast.Attribute]) -> tuple[int, int]:
    return call[0].end_lineno or 0, call[0].end_col_offset or 0


def _call(name: str, call: ast.Call, where: str | None, relation: str) -> DataCheck:
    assert isinstance(call.func, ast.Attribute)
    kind = call.func.attr
    if kind not in _ROWS and kind not in _GROUPS and kind not in _VALUES:
        raise CaptureError(f"{kind} is not among the constraints that are known here")
    parameters, sql = _ROWS.get(kind) or _GROUPS.get(kind) or _VALUES[kind]
    columns, values, assertion = _arguments(call, parameters)
    bounds = _ONE if assertion is None else _asserted(assertion)
    condition = values.pop("condition", None)
    check = CheckBuilder(name, relation, columns, values, where)
    if kind in _VALUES:
        if assertion is None:
            raise CaptureError("it asserts nothing that is read here: lambda x: x >= 0.9")
        return check.value(sql, bounds)
    if kind in _GROUPS:
        among = " OR ".join(f"x{number} IS NOT NULL" for number in range(len(columns)))
        if bounds == _ONE:
            return check.duplicates(among=among)
        groups = f"(SELECT count(*) AS n FROM r WHERE {among} GROUP BY xs) AS g"
        return check.value(sql, bounds, source=groups)
    if condition is not None:
        sql = f"NOT coalesce({condition}, false)"
    elif "columns" in parameters:
        sql = sql.join(f"x{number} IS NULL" for number in range(len(columns)))
    if bounds == _ONE:
        return check.failing(sql)
    return check.value(f"sum(CASE WHEN {sql} THEN 0 ELSE 1 END) / count(*)", bounds)


def _arguments(
    call: ast.Call, parameters: str
) -> tuple[list[str], dict[str, Any], ast.expr | None]:
    """Return the columns, the other values, and the assertion of a constraint.

    Raises
    ------
    CaptureError
        For arguments that are not read.
    """
    names = [*parameters.split(), "hint"]
    if names[0] == "columns" and call.args and isinstance(call.args[0], ast.Constant):
        # The columns are not in a list: as many arguments as are texts.
        names[:1] = ["columns"] * sum(isinstance(each, ast.Constant) for each in call.args)
    if len(call.args) > len(names):
        raise CaptureError(f"it has {len(call.args)} arguments, of which {len(names)} are known")
    given = list(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        name = _KEYWORDS.get(keyword.arg or "", keyword.arg or "**")
        if name not in names:
            raise CaptureError(f"its {name!r} is not read here")
        given.append((name, keyword.value))
    columns: list[str] = []
    values: dict[str, Any] = {}
    assertion: ast.expr | None = None
    for name, node in given:
        if name == "assertion":
            assertion = None if ast.unparse(node) == "None" else node
        elif name in ("column", "columns"):
            literal = _literal(node, name)
            columns += literal if isinstance(literal, list | tuple) else [literal]
        elif name not in ("hint", "name"):
            values[name] = _literal(node, name)
    if not all(isinstance(column, str) for column in columns):
        raise CaptureError("its columns are not texts")
    if len(columns) < (names.count("column") or "columns" in parameters):
        raise CaptureError("it does not name its columns")
    if values.pop("binningUdf", None) is not None:
        raise CaptureError("its binningUdf is not read here")
    if values.get("values") == []:
        raise CaptureError("its list of values is empty")
    return columns, values, assertion


def _literal(node: ast.expr, name: str) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise CaptureError(f"its {name} is {ast.unparse(node)}, and not a literal") from None


_SIGNS: Mapping[type[ast.cmpop], tuple[str, str]] = {
    ast.GtE: (">=", "<="),
    ast.Gt: (">", "<"),
    ast.LtE: ("<=", ">="),
    ast.Lt: ("<", ">"),
    ast.Eq: ("=", "="),
    ast.NotEq: ("!=", "!="),
}
"""From a comparison to its sign, and to that of its sides exchanged."""


def _asserted(function: ast.expr) -> ValueBounds:
    """Return the bounds of ``lambda x: x >= 0.9``, or of two such comparisons.

    Raises
    ------
    CaptureError
        For other functions.
    """
    refusal = CaptureError(f"its assertion is {ast.unparse(function)}: compare with a number")
    if not isinstance(function, ast.Lambda):
        raise refusal
    body = function.body
    joined = isinstance(body, ast.BoolOp) and isinstance(body.op, ast.And)
    low = high = ValueBounds()
    for part in body.values if joined and isinstance(body, ast.BoolOp) else [body]:
        if not isinstance(part, ast.Compare):
            raise refusal
        operands = [part.left, *part.comparators]
        for left, operator, right in zip(operands, part.ops, operands[1:], strict=False):
            value, number = (left, right) if isinstance(left, ast.Name) else (right, left)
            if not isinstance(value, ast.Name) or type(operator) not in _SIGNS:
                raise refusal
            try:
                plain = float(ast.literal_eval(number))
            except (ValueError, TypeError):
                raise refusal from None
            sign = _SIGNS[type(operator)][value is right]
            if operands[2:] or joined:
                if sign in ("=", "!="):
                    raise refusal
                if sign.startswith(">"):
                    low = ValueBounds(low=plain, above=sign == ">")
                else:
                    high = ValueBounds(high=plain, below=sign == "<")
            else:
                return bounded(sign, plain)
    return ValueBounds(low.low, high.high, low.above, high.below)


def _results(documents: Any, path: Path, relation: str) -> Iterator[WrittenCheck]:
    """Yield the constraints of results, whose assertions JSON does not have.

    Raises
    ------
    CaptureError
        For documents of another form.
    """
    try:
        constraints = [
            str(each.get("code_for_constraint") or each["constraint"]) for each in documents
        ]
    except (TypeError, KeyError, AttributeError) as error:
        raise CaptureError(
            f"{path} has no constraints of Deequ.\nGive the JSON of checkResultsAsJson, or of "
            "suggestions, or calls as in Python."
        ) from error
    for constraint in constraints:
        if constraint.startswith("."):
            try:
                yield from list(_calls(constraint, relation))
            except CaptureError as error:
                yield WrittenCheck(constraint, (relation,), _raising(error))
        else:
            yield WrittenCheck(
                constraint,
                (relation,),
                lambda text=constraint: _result(text, relation),  # type: ignore[misc]
            )


def _raising(error: CaptureError) -> Any:
    def read() -> DataCheck:
        raise error

    return read


def _result(constraint: str, relation: str) -> DataCheck:
    match = _RESULT.match(constraint)
    analyzer, arguments = (match[2], match[3]) if match else ("", "")
    if "Some(" in arguments:
        raise CaptureError("it has a filter or options, which are not read from results")
    if (found := _COLUMNS.match(arguments)) is not None:
        columns = [name.strip() for name in (found[1] or found[2]).split(",")]
        check = CheckBuilder(constraint, relation, columns)
        if analyzer == "Completeness":
            return check.failing("x IS NULL")
        if analyzer in ("Uniqueness", "UniqueValueRatio"):
            among = " OR ".join(f"x{number} IS NOT NULL" for number in range(len(columns)))
            return check.duplicates(among=among)
    raise CaptureError(
        "the results do not have what it asserts: give the constraints as calls, "
        '.hasMean("x", lambda x: x <= 30)'
    )
