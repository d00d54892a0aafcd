"""Scripts written in the manner of public ones: cleaning, models, ETL and plots."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lipstick.scripts import text_provenance
from semiring.semirings import Boolean

TEXTS = {
    f"{path.stem}: {title}": text
    for path in sorted((Path(__file__).parent / "public").glob("*.scripts"))
    for title, text in re.findall(r"^#== (.+)\n((?:(?!#==).*\n)+)", path.read_text(), re.M)
}


def test_they_are_all_there() -> None:
    assert len(TEXTS) >= 35


@pytest.mark.parametrize("name", TEXTS)
def test_graph_and_slices(name: str) -> None:
    provenance = text_provenance(TEXTS[name])
    assert provenance.graph().evaluate(Boolean()) is not None
    opaque = {item.why for item in provenance.opaque}
    for node in provenance.final.nodes.values():
        assert node.unknown is None or node.unknown in opaque
    whole = len(TEXTS[name].splitlines())
    assert provenance.outputs or opaque
    for criterion in (*provenance.variables, *provenance.outputs):
        lines = provenance.depends(criterion).lines
        assert 0 < len(lines) <= whole, criterion
        # A slice is a program.
        ast.parse(provenance.slice(criterion))
