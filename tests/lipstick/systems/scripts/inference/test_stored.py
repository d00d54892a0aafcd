"""Single outputs from stored views are what inference in memory says of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmark_workflowgen.inference.simulate import simulate
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.inference import (
    Distribution,
    ProcessingElement,
    StoredView,
    infer_output,
    posterior,
)

ELEMENT = ProcessingElement(15, 10, Distribution.poisson(1))


def stored(times: np.ndarray, folder: Path, parts: int = 3) -> StoredView:
    """A view in several files of small row groups."""
    table = pa.table({"txn_time": times, "seq": np.arange(len(times))})
    size = -(-len(times) // parts)
    for part in range(parts):
        path = folder / f"part-{part}.parquet"
        pq.write_table(table.slice(part * size, size), path, row_group_size=50)
    (folder / "_SUCCESS").touch()
    return StoredView(folder)


@pytest.mark.parametrize("origin", [None, 5])
def test_an_output_has_the_inputs_that_inference_in_memory_finds(
    origin: int | None, tmp_path: Path
) -> None:
    stream = simulate([ELEMENT], Distribution.poisson(3), 1_500, 4)
    element = replace(ELEMENT, origin=origin)
    view = stored(stream.inputs.times, tmp_path)
    expected = posterior(element, stream.inputs, stream.outputs)
    for output, time in enumerate(stream.outputs.times):
        places, probability = expected.of(output)
        answer = infer_output(element, view, int(time))
        assert answer.sequences.tolist() == places.tolist(), output
        assert answer.times.tolist() == stream.inputs.times[places].tolist()
        assert answer.probability == pytest.approx(probability)


def test_only_row_groups_of_the_window_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = stored(np.arange(600), tmp_path)
    read = []
    original = pq.ParquetFile.read_row_group
    monkeypatch.setattr(
        pq.ParquetFile,
        "read_row_group",
        lambda self, group, *a, **k: read.append(group) or original(self, group, *a, **k),
    )
    assert len(infer_output(ProcessingElement(10, 10), view, 320).sequences) == 10
    assert len(read) == 1
    assert len(infer_output(ProcessingElement(10, 10), view, 10_000).sequences) == 0


def test_what_a_stored_view_needs_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="no Parquet file"):
        StoredView(tmp_path)
    view = stored(np.arange(60), tmp_path)
    with pytest.raises(ScriptError, match="no column 'at'; it has txn_time, seq"):
        StoredView(tmp_path, time="at")
    with pytest.raises(ScriptError, match="follow by counting"):
        infer_output(replace(ELEMENT, window_by="tuples"), view, 30)
