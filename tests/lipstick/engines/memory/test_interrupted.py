"""Annotations after a question that was interrupted, and asked for by several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lipstick.engines.memory.memory import Memory
from semiring.base import Array
from semiring.circuit.gates import _Column, _Index
from tests.oracle.conditions import DATABASE, QUERIES
from tests.oracle.written import written

NAMES = list(QUERIES)[9::9]


def texts(memory: Memory) -> list[str]:
    """Return the annotations of the answer, as text."""
    return [k.truncated(None) for _, k in memory.annotations()]


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_question_leaves_nothing_half_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the arrays of gates grow, Ctrl-C may come in between."""
    expected = texts(written(QUERIES[name], DATABASE, tmp_path / "whole"))
    memory = written(QUERIES[name], DATABASE, tmp_path / "interrupted")
    extend, insert = _Column.extend, _Index.insert
    left = 0

    def count() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise KeyboardInterrupt

    def extended(column: _Column, values: Array) -> None:
        count()
        extend(column, values)

    def inserted(index: _Index, *arguments: Any) -> None:
        insert(index, *arguments)
        count()

    monkeypatch.setattr(_Column, "extend", extended)
    monkeypatch.setattr(_Index, "insert", inserted)
    interrupted, step = 0, 1
    while True:
        left = step
        step += 7 + step // 4
        try:
            found = texts(memory)
        except KeyboardInterrupt:
            interrupted += 1
            continue
        assert found == expected
        break
    assert interrupted
    left = 0
    assert texts(memory) == expected


def test_threads_ask_one_after_the_other(tmp_path: Path) -> None:
    for number, name in enumerate(NAMES):
        expected = texts(written(QUERIES[name], DATABASE, tmp_path / f"{number}"))
        memory = written(QUERIES[name], DATABASE, tmp_path / f"{number} shared")
        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(lambda _, m=memory: texts(m), range(4))) == [expected] * 4
