"""What a program is seen to read and write when it runs is in its graph."""

from __future__ import annotations

import pytest

from lipstick.systems.scripts import text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError
from tests.lipstick.systems.scripts.programs import VARIABLES, program
from tests.lipstick.systems.scripts.test_slices import PROGRAMS
from tests.lipstick.systems.scripts.tracer import traced


@pytest.mark.parametrize("part", range(2))
def test_dependences_seen_at_run_time_are_in_the_graph(part: int) -> None:
    compared = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        text = program(seed, 5)
        try:
            seen = traced(text, VARIABLES)
        except NotEndedError:
            continue
        provenance = text_provenance(text)
        lines = {reader: set() for _, reader, _ in seen}
        for reader in lines:
            lines[reader] = {line.number for line in provenance.depends(reader).lines}
        for writer, reader, name in sorted(seen):
            assert writer in lines[reader], f"seed {seed}: {name} of line {writer} at {reader}"
            compared += 1
    assert compared > PROGRAMS * 5
