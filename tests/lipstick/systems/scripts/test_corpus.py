"""Scripts in the manner of public ones, with slices by hand; their comments say which lines."""

from __future__ import annotations

import ast
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from lipstick.systems.scripts import ScriptProvenance, script_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, changed, run, shown

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.script"))

_FILES = {
    "prices.csv": 'name,price\nnut,1.5\nbolt,900\nring,\nhook,"2,25"\n',
    "book.txt": "The cat and the dog of a street saw another cat\n",
    "sales.csv": "region,product,price,count\neast,nut,1.0,3\nwest,nut,2.0,1\neast,hook,5.0,2\n",
}


def criteria(text: str) -> dict[str, str]:
    """By tag what a slice is about, as the first line says."""
    return dict(re.findall(r"(\w): (\S+)", text.splitlines()[0]))


def marked(text: str, tag: str) -> set[int]:
    """The lines that a person has put into a slice."""
    pattern = re.compile(rf"#:.*\b{tag}\b")
    return {number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)}


@pytest.fixture(scope="module")
def provenances() -> dict[Path, ScriptProvenance]:
    return {path: script_provenance(path) for path in CORPUS}


def test_slices_are_those_that_a_person_finds(provenances: dict[Path, ScriptProvenance]) -> None:
    right = more = compared = 0
    for path, provenance in provenances.items():
        text = path.read_text()
        for tag, criterion in criteria(text).items():
            true = marked(text, tag)
            numbers = {line.number for line in provenance.depends(criterion).lines}
            assert true <= numbers, f"{path.name}, {criterion}: {sorted(true - numbers)} missing"
            right += len(true)
            more += len(numbers - true)
            compared += 1
    assert compared >= 60
    assert right / (right + more) > 0.97


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_changes_outside_of_slices_of_scripts_do_not_matter(
    path: Path, provenances: dict[Path, ScriptProvenance], tmp_path: Path
) -> None:
    text = path.read_text()
    tree = ast.parse(text)
    random = np.random.default_rng(len(text))
    for name, content in _FILES.items():
        (tmp_path / name).write_text(content)
    # A changed script may drop a file that is open.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = run(tree, tmp_path)
        written = _written(tmp_path)
        for criterion in criteria(text).values():
            lines = {line.number for line in provenances[path].depends(criterion).lines}
            for _ in range(4):
                other = changed(tree, lines, random)
                if other is None:
                    break
                try:
                    after = run(other[0], tmp_path)
                except NotEndedError:
                    continue
                if criterion in written:
                    assert (tmp_path / criterion).read_text() == written[criterion], other[1]
                else:
                    assert shown(after[criterion]) == shown(whole[criterion]), other[1]


def _written(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.name not in _FILES}


def test_what_is_not_followed_is_listed(provenances: dict[Path, ScriptProvenance]) -> None:
    opaque = {path.stem: {item.why for item in p.opaque} for path, p in provenances.items()}
    assert {name for name, whys in opaque.items() if whys} == {"pipeline", "tree"}
    assert opaque["tree"] == {"depth_of calls itself", "leaves_of calls itself"}
