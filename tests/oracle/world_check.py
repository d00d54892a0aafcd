"""The worlds oracle: annotations say of every world exactly what the query answers there."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from lipstick.errors import CaptureError
from semiring.analysis import banzhaf, probability, repairs, responsibility, shapley, witnesses
from semiring.errors import CapabilityError, ExactnessError, LipstickError
from semiring.semirings import Counting
from semiring.token import Token
from tests.oracle.brute_force import Game
from tests.oracle.database import Database
from tests.oracle.duck import loosened
from tests.oracle.rows import Bag, Difference, Row, arrow_value, difference, from_arrow, split
from tests.oracle.world_answers import ALL_OF, Rows, World, WorldAnswers, worlds_of

Mode: TypeAlias = Literal["shown", "potential"]
"""Which rows are compared: those of the present answer, or those of the answer of any world."""

TOO_MANY: Final = "wrong annotation: a row that is not there"
TOO_FEW: Final = "wrong annotation: a row is missing"
WRONG_ROWS: Final = "wrong rows"
WRONG_VALUE: Final = "wrong value"
WRONG_ANSWER: Final = "wrong answer"

_COUNTING: Final = Counting()
_ROUNDED: Final = 1e-5
"""How far a quotient or average of decimals may be off, which engines round differently."""
_DIGITS: Final = 9


@dataclass(slots=True)
class Checked:
    """What came of a query.

    Attributes
    ----------
    worlds, changed, failed
        Worlds that were compared, those with another answer, and those in which the query fails,
        or has several answers.
    problems
        What is wrong, with where it is seen first.
    counts
        What was compared, what could not be, and refusals of analyses, by reason.
    """

    worlds: int = 0
    changed: int = 0
    failed: int = 0
    problems: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def wrong(self, what: str, detail: str) -> None:
        """Note something wrong; only its first sight is kept."""
        self.problems.setdefault(what, detail)


def reason(error: BaseException, length: int = 90) -> str:
    """Return an error's name and how its message begins."""
    text = str(error).split("\n")[0]
    return f"{type(error).__name__}: {text[:length]}"


def check_worlds(
    memory: Any,
    sql: str,
    database: Database,
    mode: Mode = "shown",
    *,
    rng: random.Random | None = None,
    most: int = 4096,
    analysed: int = 12,
) -> Checked:
    """Hold annotations against the query in worlds of the database.

    Parameters
    ----------
    memory
        A capture of the query: a :class:`lipstick.engines.memory.Memory`, or what has its
        ``answer``, ``blocks``, ``annotations``, ``tensors`` and ``potential_rows``.
    mode
        ``shown``: the rows of the present answer, by their columns that no deletion changes, must
        be there as often as annotations say. ``potential``: what is evaluated from all potential
        rows must be the answer, as a bag.
    most
        How many worlds are asked for at most.
    analysed
        Of how many rows the probability, repairs and shares are held against all worlds.

    Raises
    ------
    LipstickError
        What annotations are refused for.
    duckdb.Error, sqlglot.errors.SqlglotError
        DuckDB does not know something in the query.
    """
    answers = WorldAnswers(sql, database)
    worlds = worlds_of(answers.tuples, rng or random.Random(0), most)
    return check_answered(memory, answers, worlds, mode, most=most, analysed=analysed)


def check_answered(
    memory: Any,
    answers: Any,
    worlds: Sequence[World],
    mode: Mode = "shown",
    *,
    most: int = 4096,
    analysed: int = 0,
) -> Checked:
    """Hold annotations against what an engine answers in worlds; see :func:`check_worlds`.

    ``answers`` has the ``tuples``, ``present``, ``rows`` and ``ask`` of :class:`WorldAnswers`.
    """
    check = _Check(memory, answers, mode)
    if not check.agrees():
        return check.checked
    check.hold(worlds)
    check.analyse(worlds, analysed, most)
    return check.checked


@dataclass(frozen=True, slots=True)
class _Annotated:
    """A row: values of its columns, some of which may be formal, and its annotation."""

    values: tuple[Any, ...]
    annotation: Any


class _Check:
    def __init__(self, memory: Any, answers: Any, mode: Mode) -> None:
        self.checked = Checked()
        self._answers = answers
        self._mode = mode
        self._memory = memory
        answer: pa.Table = memory.answer()
        self._names = tuple(answer.schema.names)
        self._types = tuple(answer.schema.types)
        self._shown = loosened(from_arrow(answer)).rows
        outputs = memory.blocks[-1].outputs
        self._stable = tuple(n for n, output in enumerate(outputs) if output.stable)
        self._memo: dict[tuple[int, World], Any] = {}
        self._doubtful: set[Row] = set()
        self._listed = tuple(self._annotated(answer))
        self._rows = self._listed if mode == "shown" else tuple(self._potential())

    def _annotated(self, answer: pa.Table) -> Iterator[_Annotated]:
        """Yield the rows of the answer; those with a name twice by their places in it."""
        annotations = self._memory.annotations()
        if len(set(self._names)) == len(self._names):
            for values, annotation in annotations:
                yield _Annotated(tuple(values[name] for name in self._names), annotation)
            return
        rows = zip(*(column.to_pylist() for column in answer.columns), strict=True)
        for row, (_, annotation) in zip(rows, annotations, strict=True):
            yield _Annotated(row, annotation)

    def _potential(self) -> Iterator[_Annotated]:
        for row in self._memory.potential_rows():
            yield _Annotated(tuple(row.values), row.annotation)
            counted = _evaluate(row.annotation, frozenset())
            if bool(counted) != bool(row.present):
                detail = f"{row.values} present: {row.present}, counted {counted}"
                self.checked.wrong("wrong presence", detail)

    def agrees(self) -> bool:
        """Tell whether the captured answer is the one of DuckDB, before anything is deleted."""
        differences = _difference(self._answers.present, self._shown)
        if differences:
            self.checked.wrong(WRONG_ANSWER, str(differences))
        return not differences

    # -- rows ------------------------------------------------------------------------------

    def hold(self, worlds: Sequence[World]) -> None:
        """Compare rows and values in every world."""
        self._answers.ask(worlds)
        answered = [world for world in worlds if self._answers.rows(world) is not None]
        self.checked.worlds = len(answered)
        self.checked.failed = len(worlds) - len(answered)
        present = self._answers.present
        self.checked.changed = sum(
            bool(_difference(present, self._rows_in(world))) for world in answered
        )
        compare = self._by_stable(answered)
        for world in answered:
            compare(world)
            if self._mode == "potential":
                self._whole(world)
        self._values(answered)

    def _whole(self, world: World) -> None:
        """Compare the whole answer with what potential rows come to."""
        differences = _difference(self._rows_in(world), self._evaluated(world))
        if differences:
            self.checked.wrong(WRONG_ROWS, f"{_shown_world(world)}\n{differences}")

    def _evaluated(self, world: World) -> Rows:
        rows: list[Row] = []
        for row in self._rows:
            copies = self._count(row, world)
            if copies:
                values = tuple(
                    arrow_value(self._value(value, world), kind)
                    for value, kind in zip(row.values, self._types, strict=True)
                )
                rows += [values] * copies
        return loosened(Bag(self._names, (), tuple(rows))).rows

    def _value(self, value: Any, world: World) -> Any:
        return _evaluate(value, world) if hasattr(value, "evaluate") else value

    def _by_stable(self, answered: Sequence[World]) -> Callable[[World], None]:
        """Return the comparison by columns that no deletion changes."""
        keys = [self._key(row) for row in self._shown_values()]
        pairs = list(zip(keys, self._listed, strict=True))
        shown = Counter(keys)
        often: Counter[Row] = Counter()
        for world in answered:
            often |= Counter(map(self._key, self._rows_in(world)))
        unique = {key for key in shown if often[key] <= 1}
        self.checked.counts["rows compared"] += sum(shown[key] for key in unique)
        doubtful = len(keys) - sum(shown[key] for key in unique)
        if doubtful:
            self.checked.counts["rows that others may be equal to"] += doubtful
        if not unique and self._mode == "shown":
            self.checked.counts["not comparable"] += 1

        def compare(world: World) -> None:
            there = Counter(map(self._key, self._rows_in(world)))
            counted: Counter[Row] = Counter()
            for key, row in pairs:
                counted[key] += self._count(row, world)
            for key, count in counted.items():
                detail = f"{_shown_world(world)}: {key} {there[key]} times, not {count}"
                if count > there[key]:
                    self.checked.wrong(TOO_MANY, detail)
                elif count < there[key] and key in unique and self._mode == "shown":
                    if count + self._others(key, world) == there[key]:
                        self._doubtful.add(key)
                        self.checked.counts["rows in whose place an equal one is"] += 1
                    elif len(self._stable) == len(self._names):
                        self.checked.wrong(TOO_FEW, detail)
                    elif key not in self._doubtful:
                        # Perhaps another row: matched in one world, padded in the other.
                        self._doubtful.add(key)
                        self.checked.counts["rows missing, unless another is in their place"] += 1

        return compare

    def _others(self, key: Row, world: World) -> int:
        """Return how often rows with some stable values are there that the answer lacks now."""
        return sum(self._count(row, world) for row in self._absent.get(key, ()))

    @cached_property
    def _absent(self) -> Mapping[Row, Sequence[_Annotated]]:
        """The potential rows that the answer lacks now, by their stable values."""
        rows: dict[Row, list[_Annotated]] = defaultdict(list)
        try:
            potential = self._memory.potential_rows()
        except LipstickError:
            # They are too many: no other row is known.
            potential = []
        for row in potential:
            if not row.present:
                absent = _Annotated(tuple(row.values), row.annotation)
                rows[self._stable_values(absent)].append(absent)
        return rows

    def _stable_values(self, row: _Annotated) -> Row:
        stable = tuple(arrow_value(row.values[n], self._types[n]) for n in self._stable)
        return _hashable(loosened(Bag((), (), (stable,))).rows[0])

    def _shown_values(self) -> Rows:
        rows = tuple(
            tuple(arrow_value(v, kind) for v, kind in zip(row.values, self._types, strict=True))
            for row in self._listed
        )
        return loosened(Bag(self._names, (), rows)).rows

    # -- values ----------------------------------------------------------------------------

    def _values(self, answered: Sequence[World]) -> None:
        """Compare tensors of columns with the values that the columns have."""
        for index in set(range(len(self._names))) - set(self._stable):
            try:
                tensors = self._memory.tensors(self._names[index])
            except LipstickError as error:
                self.checked.counts[f"refused tensor: {type(error).__name__}"] += 1
                continue
            self.checked.counts["columns with tensors"] += 1
            keys = map(self._key, self._shown_values())
            pairs = [
                (key, row, tensor)
                for key, row, (_, tensor) in zip(keys, self._listed, tensors, strict=True)
            ]
            repeated = Counter(key for key, _, _ in pairs)
            for world in answered:
                rows: dict[Row, list[Row]] = defaultdict(list)
                for row_there in self._rows_in(world):
                    rows[self._key(row_there)].append(row_there)
                for key, row, tensor in pairs:
                    alone = repeated[key] == 1 and len(rows[key]) == 1
                    if alone and self._count(row, world):
                        value = arrow_value(_evaluate(tensor, world), self._types[index])
                        told = loosened(Bag((), (), ((value,),))).rows
                        expected = ((rows[key][0][index],),)
                        if _difference(expected, told):
                            detail = f"{_shown_world(world)}: {self._names[index]} of {key}"
                            detail += f": {expected[0][0]} expected, {told[0][0]} found"
                            self.checked.wrong(WRONG_VALUE, detail)

    # -- analyses --------------------------------------------------------------------------

    def analyse(self, worlds: Sequence[World], analysed: int, most: int) -> None:
        """Hold analyses of annotations against what holds in all worlds."""
        tuples = self._answers.tuples
        for key, annotation in list(self._alone(worlds).items())[:analysed]:
            tokens = annotation.tokens
            if len(worlds) == 2 ** len(tuples):
                players = tuple(tuples)
            elif len(tokens) <= ALL_OF and 2 ** len(tokens) <= most:
                players = tuple(sorted(tokens))
            else:
                self.checked.counts["rows of too many tokens to analyse"] += 1
                continue
            game = self._game(key, players)
            if game is None:
                self.checked.counts["rows not analysed, as a world has no answer"] += 1
                continue
            self.checked.counts["rows analysed"] += 1
            self._analyse(key, annotation, game)

    def _alone(self, worlds: Sequence[World]) -> dict[Row, Any]:
        """Return annotations by the stable columns of rows, where no other row has the same."""
        grouped: dict[Row, list[Any]] = defaultdict(list)
        for row in self._rows:
            grouped[self._stable_values(row)].append(row.annotation)
        if self._mode == "shown":
            often: Counter[Row] = Counter()
            for world in worlds:
                often |= Counter(map(self._key, self._answers.rows(world) or ()))
            grouped = {
                key: alike
                for key, alike in grouped.items()
                if len(alike) == 1 and often[key] <= 1 and key not in self._doubtful
            }
        return {key: _total(alike) for key, alike in grouped.items()}

    def _game(self, key: Row, players: Sequence[Token]) -> Game | None:
        worlds = [
            frozenset(token for bit, token in enumerate(players) if not number >> bit & 1)
            for number in range(2 ** len(players))
        ]
        self._answers.ask(worlds)
        there = np.zeros(len(worlds), dtype=np.bool_)
        for number, world in enumerate(worlds):
            rows = self._answers.rows(world)
            if rows is None:
                return None
            there[number] = any(self._key(row) == key for row in rows)
        return Game(tuple(players), there)

    def _analyse(self, key: Row, annotation: Any, game: Game) -> None:
        players = game.tokens
        half = dict.fromkeys(players, 0.5)
        uneven = {token: (number + 1) / (len(players) + 2) for number, token in enumerate(players)}

        def probabilities() -> Iterator[tuple[float, float]]:
            for weights in (half, uneven):
                yield game.probability(weights), probability(annotation, weights).value

        def shares(
            expected: Mapping[Token, float], actual: Mapping[Token, Any]
        ) -> Iterator[tuple[float, float]]:
            assert set(actual) <= set(expected), f"unknown tokens in {actual}"
            for token, value in expected.items():
                yield value, float(actual.get(token, 0.0))

        def sets(expected: frozenset[frozenset[Token]], actual: Any) -> Iterator[tuple[Any, Any]]:
            yield expected, frozenset(actual)

        analyses: dict[str, Callable[[], Iterator[tuple[Any, Any]]]] = {
            "probability": probabilities,
            "repairs": lambda: sets(game.repairs(), repairs(annotation)),
            "shapley": lambda: shares(game.shapley(), shapley(annotation)),
            "banzhaf": lambda: shares(game.banzhaf(), banzhaf(annotation)),
            "witnesses": lambda: sets(game.witnesses(), witnesses(annotation)),
            "responsibility": lambda: shares(game.responsibility(), responsibility(annotation)),
        }
        for name, pairs in analyses.items():
            try:
                for expected, given in pairs():
                    if not _same(expected, given):
                        detail = f"{key} {annotation}: {_text(expected)} expected, {_text(given)}"
                        self.checked.wrong(f"wrong {name}", detail)
                        break
                else:
                    self.checked.counts[f"{name} agrees"] += 1
            except (CapabilityError, ExactnessError, CaptureError) as error:
                self.checked.counts[f"refused {name}: {type(error).__name__}"] += 1
            except AssertionError as error:
                self.checked.wrong(f"wrong {name}", f"{key} {annotation}: {error}")

    # -- parts -----------------------------------------------------------------------------

    def _rows_in(self, world: World) -> Rows:
        rows = self._answers.rows(world)
        assert rows is not None
        return rows

    def _key(self, row: Row) -> Row:
        return _hashable(tuple(row[index] for index in self._stable))

    def _count(self, row: _Annotated, world: World) -> int:
        """Return how often a row is there; worlds that its annotation cannot tell apart are one."""
        seen = (id(row.annotation), world & row.annotation.tokens)
        if seen not in self._memo:
            self._memo[seen] = _evaluate(row.annotation, world)
        count: int = self._memo[seen]
        return count


def _evaluate(formal: Any, world: World) -> Any:
    return formal.evaluate(_COUNTING, lambda token: int(token not in world))


def _total(annotations: Sequence[Any]) -> Any:
    total = annotations[0]
    for annotation in annotations[1:]:
        total = total + annotation
    return total


def _hashable(row: Row) -> Row:
    exact, numbers = split(row)
    return (*exact, *(float(f"{number:.{_DIGITS}g}") for number in numbers))


def _difference(expected: Rows, actual: Rows) -> Difference | None:
    """Return how two bags differ; numbers that are a little different are the same."""
    if expected == actual:
        return None
    differs = difference(expected, actual)
    if not differs or _nearly(differs.missing, differs.unexpected):
        return None
    return differs


def _nearly(left: Rows, right: Rows) -> bool:
    """Tell whether rows differ by the rounding of quotients and averages alone."""
    if len(left) != len(right):
        return False
    for left_row, other in zip(sorted(left, key=repr), sorted(right, key=repr), strict=True):
        (exact, numbers), (same, other_numbers) = split(left_row), split(other)
        if exact != same or not all(
            math.isclose(a, b, rel_tol=_ROUNDED, abs_tol=_ROUNDED)
            for a, b in zip(numbers, other_numbers, strict=True)
        ):
            return False
    return True


def _same(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float):
        return math.isclose(expected, actual, rel_tol=1e-9, abs_tol=1e-9)
    return bool(expected == actual)


def _text(value: Any) -> str:
    if isinstance(value, frozenset):
        texts = [" ".join(map(str, sorted(token_set))) for token_set in value]
        return f"{{{', '.join(sorted(texts))}}}"
    return str(value)


def _shown_world(world: World) -> str:
    return f"without {', '.join(map(str, sorted(world))) or 'nothing'}"
