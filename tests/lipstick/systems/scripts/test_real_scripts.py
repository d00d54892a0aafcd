"""Scripts of others, as they are installed: examples of PySpark and small modules of Python."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pyspark
import pytest

from lipstick.systems.scripts import text_provenance
from semiring.semirings import Boolean

EXAMPLES = sorted((Path(pyspark.__file__).parent / "examples").rglob("*.py"))
MODULES = [
    path
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    if path.stat().st_size < 12_000 and not path.stem.startswith("_")
]
PARTS = 8


def test_there_are_enough_scripts() -> None:
    assert len(EXAMPLES) + len(MODULES) >= 200


@pytest.mark.parametrize("part", range(PARTS))
def test_scripts_of_others_have_graphs(part: int) -> None:
    for path in [*EXAMPLES, *MODULES][part::PARTS]:
        # As text: what stands beside a module of Python is not its project.
        provenance = text_provenance(path.read_text(), name=path.name)
        graph = provenance.graph()
        count = provenance.script.main.text.count("\n") + 1
        for name in provenance.variables[:2]:
            lines = provenance.depends(name).lines
            assert all(0 < line.number <= count or line.file != path.name for line in lines), path
        assert graph.node_count >= len(provenance.final.nodes), path
        for node in provenance.final.nodes.values():
            if node.unknown is not None:
                assert node.unknown in {item.why for item in provenance.opaque}, path
        # Every stage has an order: nothing feeds itself.
        assert graph.evaluate(Boolean()) is not None, path
