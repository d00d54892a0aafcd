"""The plans of Spark Connect in comparable form, for the proof that a text is the query of a frame.

Over Spark Connect plans are text, as Spark explains them, and both are explained at one time, since
Spark reads the clock for each. The same details are removed from both: the names of attributes on
the way, projections that only rename, the order of columns that are chosen again above and of
grouping keys, the numbers of calls of Python functions, the names of lateral views, and the number
of parts that a range is cut into. Nothing is removed that decides what is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lipstick.dataframes.messages import Message
from lipstick.dataframes.texts import FUNCTION_PREFIX
from rewriter.dialect import SparkSQL, emit, parse
from rewriter.dialect.literals import volatile_calls, with_literals
from rewriter.errors import QueryError

_NAME = r"[^\s\[\](),#]+"
_ATTRIBUTE = re.compile(rf"({_NAME})#(\d+)")
_NUMBER = re.compile(r"#(\d+)")
_GENERATED_AS = re.compile(r"(Generate .*, (?:true|false)), \w+(?=, \[)")
"""The name of a LATERAL VIEW, which a frame has not."""
_CUT_INTO = re.compile(r"(?<=, )(step=-?\d+), splits=\w+\(\d+\)\)")
_COMMON = re.compile(r"\b_common_expr_\d+(?=#)")
"""Common expressions, which Spark numbers over all plans."""
_PIVOTED = re.compile(r"pivotfirst\([^#]+#\d+L?, ([^#]+)#(\d+)")
"""The aggregate that PIVOT chooses from, whose name is its whole text."""
_BARE = re.compile(rf"{_NAME}#(\d+)L?")
_RENAMED = re.compile(rf"({_NAME}#(\d+)L?) AS {_NAME}#(\d+)L?")
"""An item of a select list that only gives an attribute another name and number."""
_DRAWN = re.compile(r"(?:[: ] {2})*(?:[+:]- )?")
"""The tree drawn before an operator: three characters for each operator above it."""

_SAME_COLUMNS = ("Filter", "GlobalLimit", "LocalLimit", "Offset", "Sample", "Sort")
_BOTH_SIDES = ("Join Cross", "Join FullOuter", "Join Inner", "Join LeftOuter", "Join RightOuter")
_ADDING = ("ArrowEvalPython", "BatchEvalPython", "Join LeftAnti", "Join LeftSemi", "Window")
_CHOOSING = ("Aggregate", "Expand", "Project")


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator of a plan: its depth and its text."""

    depth: int
    text: str

    def lists(self) -> list[list[str]]:
        """Return the lists in brackets that are not part of another: their items."""
        items: list[list[str]] = []
        depth, start = 0, 0
        for position, letter in enumerate(self.text):
            if letter in "([":
                depth += 1
                if letter == "[" and depth == 1:
                    items.append([])
                    start = position + 1
            elif depth == 1 and items and letter in ",]":
                items[-1].append(self.text[start:position].strip())
                start = position + 1
            if letter in ")]":
                depth -= 1
        return items

    def items(self) -> list[str]:
        """Return the select list of a projection or an aggregation."""
        return self.lists()[-1] if self.text.startswith(("Aggregate [", "Project [")) else []


Operators = Sequence[_Operator]


def comparable(plan: str) -> str:
    """Return an optimised plan as it is compared: equal texts are equal queries."""
    plan = _CUT_INTO.sub(r"\1)", _GENERATED_AS.sub(r"\1", plan))
    plan = _COMMON.sub("_common_expr", plan)
    for name, number in set(_PIVOTED.findall(plan)):
        plan = plan.replace(f"{name}#{number}", f"pivoted#{number}")
    lines = _by_origin(_without_calls(plan)).splitlines()
    operators: Operators = [_operator(line) for line in lines]
    operators = _with_keys_in_order(_ordered(_without_idle(_without_renaming(operators))))
    plan = "\n".join(f"{'  ' * operator.depth}{operator.text}" for operator in operators)
    numbers: dict[str, int] = {}
    return _NUMBER.sub(lambda match: f"#{numbers.setdefault(match[1], len(numbers))}", plan)


def _operator(line: str) -> _Operator:
    drawn = _DRAWN.match(line)
    size = drawn.end() if drawn else 0
    return _Operator(size // 3, line[size:])


def _without_calls(plan: str) -> str:
    """Return a plan without the numbers of calls of Python functions.

    The numbers distinguish calls that are otherwise equal, and Spark's comparison ignores them too.
    """
    calls = {match.start(): match for match in _numbers_of_calls(plan)}
    other_numbers = {match[1] for match in _NUMBER.finditer(plan) if match.start() not in calls}
    for call in reversed(calls.values()):
        if call[1] not in other_numbers:
            plan = plan[: call.start()] + plan[call.end() :]
    return plan


def _numbers_of_calls(plan: str) -> Iterator[re.Match[str]]:
    """Yield the numbers after the brackets of calls of registered functions, in order."""
    ends = set()
    for call in re.finditer(rf"{FUNCTION_PREFIX}\w+\(", plan):
        depth, end = 1, call.end()
        while depth and end < len(plan):
            depth += {"(": 1, ")": -1}.get(plan[end], 0)
            end += 1
        ends.add(end)
    for match in _NUMBER.finditer(plan):
        if match.start() in ends:
            yield match


def _by_origin(plan: str) -> str:
    """Return a plan whose attributes have the names of their origins, which come last.

    The number decides which attribute it is; the name may have been written in other letters.
    """
    names = {number: name for name, number in _ATTRIBUTE.findall(plan)}
    return _ATTRIBUTE.sub(lambda match: f"{names[match[2]]}#{match[2]}", plan)


def _without_renaming(operators: Operators) -> Operators:
    """Return a plan in which no select list gives an attribute another number alone.

    An attribute stands for another that is the same where the one is used only by the operator and
    below it, without being among its columns, and the other only elsewhere.
    """
    for number in reversed(range(len(operators))):
        items, end = operators[number].items(), _end(operators, number)
        for item in items:
            match = _RENAMED.fullmatch(item)
            if match is None or match[1] in items:
                continue
            below, elsewhere = operators[number + 1 : end], [*operators[:number], *operators[end:]]
            if not _uses(elsewhere, match[2]) and not _uses(below, match[3]):
                operators = _renumbered(operators, match[3], match[1].removesuffix("L"))
    return operators


def _renumbered(operators: Operators, number: str, attribute: str) -> Operators:
    """Return a plan with an attribute in place of that of a number, and without its naming."""
    used = re.compile(rf"{_NAME}#{number}(?!\d)")
    named = re.compile(rf"({re.escape(attribute)}L?) AS \1(?=[,\]])")

    def text(operator: _Operator) -> str:
        return named.sub(r"\1", used.sub(lambda _: attribute, operator.text))

    return [replace(operator, text=text(operator)) for operator in operators]


def _without_idle(operators: Operators) -> Operators:
    """Return a plan without projections to the columns that their inputs have, in their order."""
    kept = list(operators)
    for number in reversed(range(len(kept) - 1)):
        items = kept[number].items()
        if kept[number].text != f"Project [{', '.join(items)}]":
            continue
        columns = [match[1] for match in map(_BARE.fullmatch, items) if match]
        if len(columns) == len(items) and columns == _columns(kept, number + 1):
            end = _end(kept, number)
            above = [
                replace(operator, depth=operator.depth - 1) for operator in kept[number + 1 : end]
            ]
            kept[number:end] = above
    return kept


def _ordered(operators: Operators) -> Operators:
    """Return a plan with sorted projections, where the order of their columns does not matter."""
    return [
        replace(operator, text=f"Project [{', '.join(sorted(operator.items(), key=_unnumbered))}]")
        if operator.text.startswith("Project [") and _is_chosen_from(operators, number)
        else operator
        for number, operator in enumerate(operators)
    ]


def _with_keys_in_order(operators: Operators) -> Operators:
    """Return a plan whose aggregations have their keys in the order of their columns."""
    return [replace(operator, text=_with_ordered_keys(operator)) for operator in operators]


def _with_ordered_keys(operator: _Operator) -> str:
    items, keys = (
        operator.items(),
        operator.lists()[0] if operator.text.startswith("Aggregate [") else [],
    )
    written = f"Aggregate [{', '.join(keys)}]"
    if not keys or not set(keys) <= set(items) or not operator.text.startswith(written):
        return operator.text
    return f"Aggregate [{', '.join(sorted(keys, key=items.index))}]{operator.text[len(written) :]}"


def _unnumbered(item: str) -> str:
    return _NUMBER.sub("", item)


def _is_chosen_from(operators: Operators, number: int) -> bool:
    """Return True if an operator above chooses among the columns of one, by their numbers."""
    depth = operators[number].depth
    for operator in reversed(operators[:number]):
        if operator.depth >= depth:
            continue
        if operator.depth < depth - 1 or operator.text.startswith(_CHOOSING):
            return operator.depth == depth - 1
        if not operator.text.startswith((*_SAME_COLUMNS, *_BOTH_SIDES, *_ADDING)):
            return False
        depth = operator.depth
    return False


def _columns(operators: Operators, position: int) -> list[str] | None:
    """Return the numbers of the columns of an operator; None where they are not known."""
    operator = operators[position]
    below = [
        number
        for number in range(position + 1, _end(operators, position))
        if operators[number].depth == operator.depth + 1
    ]
    if operator.text.startswith(_SAME_COLUMNS) and len(below) == 1:
        return _columns(operators, below[0])
    if operator.text.startswith(_BOTH_SIDES) and len(below) == 2:
        left, right = (_columns(operators, number) for number in below)
        return None if left is None or right is None else left + right
    lists = operator.lists()
    before: list[str] | None = []
    listed: list[str] = []
    if operator.text.startswith(("LocalRelation [", "Relation [")):
        listed = lists[0]
    elif operator.text.startswith(_CHOOSING):
        listed = lists[-1]
    elif len(below) == 1 and (
        operator.text.startswith("Window [")
        or (operator.text.startswith("Generate ") and len(lists) == 1)
    ):
        before, listed = _columns(operators, below[0]), lists[0]
    matches = [re.search(r"#(\d+)L?$", item) for item in listed]
    if before is None or not matches or not all(matches):
        return None
    return before + [each[1] for each in matches if each]


def _end(operators: Operators, position: int) -> int:
    """Return the place after the operators below one."""
    depth = operators[position].depth
    after = range(position + 1, len(operators))
    return next((number for number in after if operators[number].depth <= depth), len(operators))


def _uses(operators: Operators, number: str) -> bool:
    return any(
        match[1] == number for operator in operators for match in _NUMBER.finditer(operator.text)
    )


_TIME = {
    "CAST(current_date() AS STRING)": "2009-02-13",
    "CAST(current_time() AS STRING)": "23:31:30.123456",
    "CAST(localtimestamp() AS STRING)": "2009-02-13 23:31:30.123456",
    "CAST(unix_timestamp() AS STRING)": "1234567890",
}
"""The texts of calls that read the clock, with fixed values; the last stands for all others."""
_MOMENT = "2009-02-13T23:31:30.123456Z"
_CALLS = ("unresolved_function", "call_function")


def reads_clock(value: Any) -> bool:
    """Return True if a plan calls a function of the time of the query."""
    if isinstance(value, list):
        return any(map(reads_clock, value))
    if not isinstance(value, dict):
        return False
    return _call(value) is not None or any(map(reads_clock, value.values()))


def at_one_time(relation: Message, names: Sequence[str] | None) -> Message:
    """Return a relation with literals in place of the time, its columns under the names given.

    ``names`` is None for a relation that does not read the clock, which is returned as it is.
    """
    if names is None:
        return relation
    renamed = {"input": _stopped(relation), "column_names": list(names)}
    return {"common": dict(relation["common"], plan_id="0"), "to_df": renamed}


def _stopped(value: Any) -> Any:
    if isinstance(value, list):
        return [_stopped(part) for part in value]
    if not isinstance(value, dict):
        return value
    called = _call(value)
    if called is not None:
        return {"expression_string": {"expression": called}}
    if "query" in value and isinstance(value["query"], str):
        query = parse(value["query"])
        return {**value, "query": emit(with_literals(query, _values(volatile_calls(query))))}
    return {key: _stopped(part) for key, part in value.items()}


def _values(calls: dict[str, str]) -> dict[str, str]:
    return {name: _TIME.get(text, _MOMENT) for name, text in calls.items()}


def _call(value: Message) -> str | None:
    """Return the text of an expression that reads the clock, with a literal time; else None."""
    text = None
    for kind in _CALLS:
        message = value.get(kind)
        if isinstance(message, dict) and not message.get("arguments"):
            text = f"{message.get('function_name')}()"
    if isinstance(value.get("expression_string"), dict):
        text = value["expression_string"]["expression"]
    if text is None:
        return None
    try:
        query = parse(f"SELECT {text}")
        calls = volatile_calls(query)
    except QueryError:
        return None
    if not calls:
        return None
    (item,) = with_literals(query, _values(calls)).expressions
    return str(item.unalias().sql(dialect=SparkSQL))
