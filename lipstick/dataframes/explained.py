"""Plans as Spark explains them, without what a text must say and a data frame need not.

Over Spark Connect plans are text. They are compared after the same was taken from both: the names
that attributes have on the way, projections that only give others, the order of columns that are
chosen again above and of what rows are grouped by, the numbers of calls of Python functions, the
names of lateral views, and into how many parts a range is cut. Nothing is taken that decides what
is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lipstick.dataframes import FUNCTION_PREFIX

_NAME = r"[^\s\[\](),#]+"
_ATTRIBUTE = re.compile(rf"({_NAME})#(\d+)")
_NUMBER = re.compile(r"#(\d+)")
_GENERATED_AS = re.compile(r"(Generate .*, (?:true|false)), \w+(?=, \[)")
"""The name of a LATERAL VIEW, which a frame has not."""
_CUT_INTO = re.compile(r"(?<=, )(step=-?\d+), splits=\w+\(\d+\)\)")
_COMMON = re.compile(r"\b_common_expr_\d+(?=#)")
"""What is computed once, which is counted over all plans."""
_PIVOTED = re.compile(r"pivotfirst\([^#]+#\d+L?, ([^#]+)#(\d+)")
"""What PIVOT chooses from: an aggregate, whose name is its whole text."""
_BARE = re.compile(rf"{_NAME}#(\d+)L?")
_RENAMED = re.compile(rf"({_NAME}#(\d+)L?) AS {_NAME}#(\d+)L?")
"""An item of a select list that only gives an attribute another name and number."""
_DRAWN = re.compile(r"(?:[: ] {2})*(?:[+:]- )?")
"""What is drawn before an operator: three characters for each one above it."""

_SAME_COLUMNS = ("Filter", "GlobalLimit", "LocalLimit", "Offset", "Sample", "Sort")
_BOTH_SIDES = ("Join Cross", "Join FullOuter", "Join Inner", "Join LeftOuter", "Join RightOuter")
_ADDING = ("ArrowEvalPython", "BatchEvalPython", "Join LeftAnti", "Join LeftSemi", "Window")
_CHOOSING = ("Aggregate", "Expand", "Project")


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator of a plan: how many are above it, and what it says."""

    depth: int
    text: str

    def lists(self) -> list[list[str]]:
        """Return the lists in brackets that are not part of another: their items."""
        found: list[list[str]] = []
        depth, start = 0, 0
        for place, letter in enumerate(self.text):
            if letter in "([":
                depth += 1
                if letter == "[" and depth == 1:
                    found.append([])
                    start = place + 1
            elif depth == 1 and found and letter in ",]":
                found[-1].append(self.text[start:place].strip())
                start = place + 1
            if letter in ")]":
                depth -= 1
        return found

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
    plan = "\n".join(f"{'  ' * one.depth}{one.text}" for one in operators)
    numbers: dict[str, int] = {}
    return _NUMBER.sub(lambda found: f"#{numbers.setdefault(found[1], len(numbers))}", plan)


def _operator(line: str) -> _Operator:
    drawn = _DRAWN.match(line)
    size = drawn.end() if drawn else 0
    return _Operator(size // 3, line[size:])


def _without_calls(plan: str) -> str:
    """Return a plan without the numbers of calls of Python functions.

    They tell calls apart that are otherwise equal, and Spark's own comparison ignores them too.
    """
    calls = {found.start(): found for found in _numbers_of_calls(plan)}
    others = {found[1] for found in _NUMBER.finditer(plan) if found.start() not in calls}
    for found in reversed(calls.values()):
        if found[1] not in others:
            plan = plan[: found.start()] + plan[found.end() :]
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
    for found in _NUMBER.finditer(plan):
        if found.start() in ends:
            yield found


def _by_origin(plan: str) -> str:
    """Return a plan whose attributes have the names of their origins, which come last.

    The number decides which attribute it is; the name may have been written in other letters.
    """
    names = {number: name for name, number in _ATTRIBUTE.findall(plan)}
    return _ATTRIBUTE.sub(lambda found: f"{names[found[2]]}#{found[2]}", plan)


def _without_renaming(operators: Operators) -> Operators:
    """Return a plan in which no select list gives an attribute another number alone.

    An attribute stands for another that is the same where the one is used only by the operator and
    below it, without being among its columns, and the other only elsewhere.
    """
    for place in reversed(range(len(operators))):
        items, end = operators[place].items(), _end(operators, place)
        for item in items:
            found = _RENAMED.fullmatch(item)
            if found is None or found[1] in items:
                continue
            below, elsewhere = operators[place + 1 : end], [*operators[:place], *operators[end:]]
            if not _uses(elsewhere, found[2]) and not _uses(below, found[3]):
                operators = _renumbered(operators, found[3], found[1].removesuffix("L"))
    return operators


def _renumbered(operators: Operators, number: str, attribute: str) -> Operators:
    """Return a plan with an attribute in place of that of a number, and without its naming."""
    used = re.compile(rf"{_NAME}#{number}(?!\d)")
    named = re.compile(rf"({re.escape(attribute)}L?) AS \1(?=[,\]])")

    def text(one: _Operator) -> str:
        return named.sub(r"\1", used.sub(lambda _: attribute, one.text))

    return [replace(one, text=text(one)) for one in operators]


def _without_idle(operators: Operators) -> Operators:
    """Return a plan without projections to the columns that their inputs have, in their order."""
    kept = list(operators)
    for place in reversed(range(len(kept) - 1)):
        items = kept[place].items()
        if kept[place].text != f"Project [{', '.join(items)}]":
            continue
        columns = [found[1] for found in map(_BARE.fullmatch, items) if found]
        if len(columns) == len(items) and columns == _columns(kept, place + 1):
            end = _end(kept, place)
            above = [replace(one, depth=one.depth - 1) for one in kept[place + 1 : end]]
            kept[place:end] = above
    return kept


def _ordered(operators: Operators) -> Operators:
    """Return a plan whose projections are in order of what they say, where theirs is no matter."""
    return [
        replace(one, text=f"Project [{', '.join(sorted(one.items(), key=_unnumbered))}]")
        if one.text.startswith("Project [") and _is_chosen_from(operators, place)
        else one
        for place, one in enumerate(operators)
    ]


def _with_keys_in_order(operators: Operators) -> Operators:
    """Return a plan whose aggregations have their keys in the order of their columns."""
    return [replace(one, text=_with_ordered_keys(one)) for one in operators]


def _with_ordered_keys(one: _Operator) -> str:
    items, keys = one.items(), one.lists()[0] if one.text.startswith("Aggregate [") else []
    written = f"Aggregate [{', '.join(keys)}]"
    if not keys or not set(keys) <= set(items) or not one.text.startswith(written):
        return one.text
    return f"Aggregate [{', '.join(sorted(keys, key=items.index))}]{one.text[len(written) :]}"


def _unnumbered(item: str) -> str:
    return _NUMBER.sub("", item)


def _is_chosen_from(operators: Operators, place: int) -> bool:
    """Tell whether an operator above chooses among the columns of one, by their numbers."""
    depth = operators[place].depth
    for one in reversed(operators[:place]):
        if one.depth >= depth:
            continue
        if one.depth < depth - 1 or one.text.startswith(_CHOOSING):
            return one.depth == depth - 1
        if not one.text.startswith((*_SAME_COLUMNS, *_BOTH_SIDES, *_ADDING)):
            return False
        depth = one.depth
    return False


def _columns(operators: Operators, place: int) -> list[str] | None:
    """Return the numbers of the columns of an operator; None where they are not known."""
    one = operators[place]
    below = [
        number
        for number in range(place + 1, _end(operators, place))
        if operators[number].depth == one.depth + 1
    ]
    if one.text.startswith(_SAME_COLUMNS) and len(below) == 1:
        return _columns(operators, below[0])
    if one.text.startswith(_BOTH_SIDES) and len(below) == 2:
        left, right = (_columns(operators, number) for number in below)
        return None if left is None or right is None else left + right
    lists = one.lists()
    before: list[str] | None = []
    listed: list[str] = []
    if one.text.startswith(("LocalRelation [", "Relation [")):
        listed = lists[0]
    elif one.text.startswith(_CHOOSING):
        listed = lists[-1]
    elif len(below) == 1 and (
        one.text.startswith("Window [") or (one.text.startswith("Generate ") and len(lists) == 1)
    ):
        before, listed = _columns(operators, below[0]), lists[0]
    found = [re.search(r"#(\d+)L?$", item) for item in listed]
    if before is None or not found or not all(found):
        return None
    return before + [each[1] for each in found if each]


def _end(operators: Operators, place: int) -> int:
    """Return the place after the operators below one."""
    depth = operators[place].depth
    after = range(place + 1, len(operators))
    return next((number for number in after if operators[number].depth <= depth), len(operators))


def _uses(operators: Operators, number: str) -> bool:
    return any(found[1] == number for one in operators for found in _NUMBER.finditer(one.text))
