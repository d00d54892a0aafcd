"""Which tests a run takes, and the engine that a test is run with."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest

QUICK: Final = 20
"""`--quick` takes every so many of the tests without Spark, beside those marked `quick`."""

SHARES: Final = 16
SHARES_WITH_SPARK: Final = 128
SHARES_OVER_CONNECT: Final = 128
"""An ordinary run takes every 16th case of a test marked `many`, every 128th with Spark, and over
Connect the ones after.

`many(48)` says another number, of tests whose cases take long.
"""

CASES_OVER_CONNECT: Final = 24
"""Of the cases of all other tests of a file, which all run on a classic session, an ordinary run
takes every 24th one over Connect.
"""

ENGINES: Final = ("memory", "spark")
"""Who computes the rows of captures: this process, or jobs of Spark."""

ENGINE: Final = "engine"


def engines(test: pytest.Metafunc) -> tuple[str, ...]:
    """Return the engines that a test is run with: those of its mark, else each.

    Spark behind Spark Connect is called `connect`.
    """
    mark = test.definition.get_closest_marker("engines")
    chosen = mark.args if mark else ENGINES
    if not set(chosen) <= set(ENGINES):
        raise pytest.UsageError(f"{test.definition.nodeid}: engines are {ENGINES}, not {chosen}")
    over_connect = test.config.getoption("--spark-connect")
    return tuple("connect" if over_connect and engine == "spark" else engine for engine in chosen)


def skipped(items: Iterable[pytest.Item], config: pytest.Config) -> Iterator[pytest.Item]:
    """Yield what an ordinary run leaves to `--slow`.

    Of a test marked `many` that is all but every so manieth case. Of the other cases of a file it
    is over Connect all but every 24th, unless they run there only. Of a test over several engines
    it is all but one for each case: the cases take turns, and begin with another engine over
    Connect.
    """
    over_connect = bool(config.getoption("--spark-connect"))
    cases: Counter[tuple[Path, str, str | None]] = Counter()
    places: dict[Path, dict[tuple[str, int], int]] = defaultdict(dict)
    for item in items:
        engine = _engine(item)
        test = item.path, getattr(item, "originalname", item.name), engine
        number = cases[test]
        cases[test] += 1
        if item.get_closest_marker("many"):
            number, share = divmod(number, _share(item, over_connect))
            if share != over_connect:
                yield item
                continue
        elif over_connect and not item.get_closest_marker("connect"):
            known = places[item.path]
            if known.setdefault((test[1], number), len(known)) % CASES_OVER_CONNECT:
                yield item
                continue
        in_turn = ENGINES[(number + over_connect) % len(ENGINES)]
        takes_turns = engine is not None and not item.get_closest_marker("engines")
        if takes_turns and (engine == "memory") != (in_turn == "memory"):
            yield item


def _share(item: pytest.Item, over_connect: bool) -> int:
    """Return how many cases of a test marked ``many`` an ordinary run takes one of."""
    mark = item.get_closest_marker("many")
    usual = SHARES
    if "spark" in getattr(item, "fixturenames", ()):
        usual = SHARES_OVER_CONNECT if over_connect else SHARES_WITH_SPARK
    share: int = mark.args[0] if mark and mark.args else usual
    return share


def _engine(item: pytest.Item) -> str | None:
    call = getattr(item, "callspec", None)
    return call.params.get(ENGINE) if call else None


def run_of(items: list[pytest.Item], config: pytest.Config) -> list[pytest.Item]:
    """Return the tests that a run is about: all, or with `--quick` a few.

    Those are the tests marked `quick`, and a sample of those without Spark and not `slow`.
    """
    if not config.getoption("--quick"):
        return items
    sampled = [
        item
        for item in items
        if "spark" not in getattr(item, "fixturenames", ())
        and not any(map(item.get_closest_marker, ("quick", "slow", "spark")))
    ]
    return [item for item in items if item.get_closest_marker("quick")] + sampled[::QUICK]
