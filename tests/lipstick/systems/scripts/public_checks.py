"""Public scripts held against execution; ``python -m`` checks all of them, and can be stopped.

What is checked is kept, a line per script, so that a run goes on where the last one ended.
"""

from __future__ import annotations

import argparse
import ast
import json
import tempfile
import warnings
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from lipstick.systems.scripts import ScriptError, ScriptProvenance
from tests.lipstick.systems.scripts.execution import NotEndedError, changed, run, shown
from tests.lipstick.systems.scripts.public_scripts import INPUTS, PUBLIC, PublicScript, fresh_folder
from tests.lipstick.systems.scripts.tracer import traced


@dataclass(slots=True)
class Checked:
    """How much of a script was compared, and what was not as its graph says."""

    name: str
    ran: bool = False
    mutations: int = 0
    slices: int = 0
    dependences: int = 0
    wrong: list[str] = field(default_factory=list)


def check(script: PublicScript, folder: Path, mutations: int) -> Checked:
    """Change a script outside of slices, and trace what it reads and writes."""
    checked = Checked(script.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        provenance = script.provenance(fresh_folder(folder))
        try:
            before = _run(provenance.script.main.tree, folder)
            again = _run(provenance.script.main.tree, folder)
        except NotEndedError:
            return checked
        checked.ran = True
        before = {name: text for name, text in before.items() if again.get(name) == text}
        _run_slices(checked, provenance, before, folder)
        _mutate(checked, provenance, before, folder, mutations)
        _trace(checked, provenance, folder)
    return checked


def _run(tree: ast.Module, folder: Path) -> dict[str, str]:
    """The values that a script leaves in its variables and files, as texts that tell them apart."""
    variables = run(tree, fresh_folder(folder))
    values = {name: shown(value) for name, value in variables.items() if name[:2] != "__"}
    # Objects that are shown by their addresses are other ones in every run.
    values = {name: text for name, text in values.items() if "0x" not in text}
    for path in folder.iterdir():
        if path.is_file() and path.name not in INPUTS:
            values[path.name] = path.read_bytes().hex()
    return values


def _run_slices(
    checked: Checked, provenance: ScriptProvenance, before: dict[str, str], folder: Path
) -> None:
    """A slice alone computes what it is about."""
    for name in sorted({*provenance.variables, *provenance.outputs} & before.keys())[:4]:
        checked.slices += 1
        try:
            after = _run(ast.parse(provenance.slice(name)), folder)
        except NotEndedError as error:
            checked.wrong.append(f"the slice of {name} raises {error.__cause__!r}")
            continue
        if after.get(name) != before[name]:
            checked.wrong.append(f"the slice of {name} computes something else")


def _mutate(
    checked: Checked,
    provenance: ScriptProvenance,
    before: dict[str, str],
    folder: Path,
    mutations: int,
) -> None:
    random = np.random.default_rng(zlib.crc32(checked.name.encode()))
    known = [n for n in (*provenance.variables, *provenance.outputs) if n in before]
    slices = {name: {line.number for line in provenance.depends(name).lines} for name in known}
    for _ in range(4 * mutations):
        if checked.mutations >= mutations or not known:
            return
        name = known[int(random.integers(len(known)))]
        other = changed(provenance.script.main.tree, slices[name], random)
        if other is None:
            continue
        try:
            after = _run(other[0], folder)
        except NotEndedError:
            continue
        checked.mutations += 1
        if after.get(name) != before[name]:
            checked.wrong.append(f"{name}: {other[1]}")


def _trace(checked: Checked, provenance: ScriptProvenance, folder: Path) -> None:
    fresh_folder(folder)
    try:
        seen = traced(provenance.script.main.text, provenance.variables, folder)
    except NotEndedError:
        return
    lines = {}
    for writer, reader, name in sorted(seen):
        if reader not in lines:
            lines[reader] = _lines(provenance, reader)
        checked.dependences += 1
        if writer not in lines[reader]:
            checked.wrong.append(f"line {reader} reads {name} of line {writer}")


def _lines(provenance: ScriptProvenance, reader: int) -> set[int]:
    try:
        return {line.number for line in provenance.depends(reader).lines}
    except ScriptError:
        return set()


def main() -> None:
    """Check all scripts that run here."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--mutations", type=int, default=8, help="per script")
    parser.add_argument("--kept", type=Path, default=Path("public_checks.jsonl"))
    options = parser.parse_args()
    kept = options.kept.read_text().splitlines() if options.kept.exists() else []
    results = [Checked(**json.loads(line)) for line in kept]
    names = {result.name for result in results}
    with tempfile.TemporaryDirectory() as folder, options.kept.open("a") as target:
        for script in PUBLIC:
            if script.is_runnable and script.name not in names:
                results.append(check(script, Path(folder) / "run", options.mutations))
                print(json.dumps(asdict(results[-1])), file=target, flush=True)
    for result in results:
        for what in result.wrong:
            print(f"{result.name}: {what}")
    ran = sum(result.ran for result in results)
    mutations, slices, dependences = (
        sum(getattr(result, name) for result in results)
        for name in ("mutations", "slices", "dependences")
    )
    wrong = sum(len(result.wrong) for result in results)
    print(f"{ran} scripts, {mutations} mutations, {slices} slices run, {dependences} dependences")
    print(f"{wrong} wrong")


if __name__ == "__main__":
    main()
