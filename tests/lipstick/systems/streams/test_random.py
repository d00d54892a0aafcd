"""Random graphs of operators: keys, content, ancestors and descendants are those of the oracle.

Many more: ``python -m tests.lipstick.systems.streams.random 0-2000 --output FILE``.
"""

import numpy as np
import pytest

from lipstick.systems.streams.ancestors import ancestors_of_each
from lipstick.systems.streams.events import Events
from lipstick.systems.streams.operators import sliding_windows
from tests.lipstick.systems.streams.compared import DisagreementError, compare
from tests.lipstick.systems.streams.generated import random_inputs, random_specs, run_graph


def _compare(seeds: range) -> None:
    for seed in seeds:
        compare(seed)


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_graphs(first: int) -> None:
    _compare(range(first, first + 10))


def test_keys_that_are_spread_over_many_small_batches() -> None:
    """Parts with other keys lie between those with the last events of one."""
    for seed in (2175, 2312, 2344, 2388):
        compare(seed)


def test_the_comparison_sees_an_ancestor_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A window narrower by a tick in its ancestor function alone is found."""
    right = sliding_windows.within_time

    def narrower(outputs: object, inputs: object, width: int) -> object:
        return right(outputs, inputs, max(width - 1, 0))  # type: ignore[arg-type]

    monkeypatch.setattr(sliding_windows, "within_time", narrower)
    with pytest.raises(DisagreementError, match="seed"):
        _compare(range(40))


def test_joins_name_the_events_of_their_windows_once() -> None:
    """Ancestors of each event ascend, without repeats, whatever paths lead to them."""
    rng = np.random.default_rng(5)
    specs = random_specs(rng)
    inputs = random_inputs(specs, rng, 3, 40)
    _, recording = run_graph(specs, inputs, 5, 3)
    for spec in specs:
        if spec.kind == "source" or not len(recording.whole(spec.sid)):
            continue
        for keys, owner in ancestors_of_each(recording, Events(spec.sid))[1].values():
            code = np.zeros(len(keys), dtype=np.int64) if keys.code is None else keys.code
            rows = list(zip(owner.tolist(), code.tolist(), keys.t.tolist(), strict=True))
            assert rows == sorted(set(rows))
