"""Programs over Python's statements and in-place calls, held against what they do when they run.

``python -m tests.lipstick.systems.scripts.battery --output FILE`` checks all of them and goes on
where it was; ``--wrong`` shows those that are wrong, ``--certain`` counts.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import io
import json
import os
import random
import shutil
import signal
import tempfile
import textwrap
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from lipstick.systems.scripts import ScriptProvenance, text_provenance
from tests.lipstick.systems.scripts.execution import NotEndedError, run, shown, statements

_FOLDER = Path(__file__).parent / "battery_programs"

NOISE = """unrelated = [1]
unrelated.append(2)
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A program whose variable ``result`` is asked about."""

    name: str
    text: str


@dataclass(slots=True)
class Outcome:
    """What became of a program: whether its answer is certain, and what is wrong with it."""

    name: str
    ran: bool = False
    certain: bool = False
    compared: int = 0
    wrong: list[str] = field(default_factory=list)


def programs() -> Iterator[Program]:
    """All programs, in a fixed order: of one construct each, and changes of objects in places.

    In the files ``{n}``, ``{m}`` and ``{k}`` are small numbers, ``{w}`` is a word and ``{t}`` the
    name of a file.
    """
    for name, text in _titled("constructs").items():
        yield Program(name, _filled(name, text))
    wrappings = _titled("wrappings")
    names = sorted(wrappings)
    for kind, text in _titled("changes").items():
        make, *changes = text.split("#--\n")
        for number, change in enumerate(changes):
            start = zlib.crc32(f"{kind} {change}".encode())
            chosen = {names[(start + step * 7) % len(names)] for step in range(5)}
            for wrapping in sorted(chosen | {"plain"}):
                name = f"{kind}: {number} {wrapping}"
                yield Program(name, _wrapped(name, make, change, wrappings[wrapping]))


def _titled(file: str) -> dict[str, str]:
    parts = (_FOLDER / f"{file}.scripts").read_text().split("#== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def _wrapped(name: str, make: str, change: str, wrapping: str) -> str:
    if make.startswith("__import__"):
        make = make.replace("__import__('collections')", "collections")
        make = make.replace("__import__('array')", "array")
    make, change = _filled(name, make).strip(), _filled(name, change).strip()
    used = []
    for line in (_FOLDER / "imports.scripts").read_text().splitlines():
        names = {item.split(" ")[-1] for item in line.partition("import ")[2].split(", ")}
        if line.startswith("import") or any(item in change for item in names):
            used.append(line)
    body = wrapping.format(
        make=make,
        change=change,
        indented=textwrap.indent(change, "    "),
        indented2=textwrap.indent(change, "        "),
    )
    return "\n".join(dict.fromkeys(used)) + "\n" + NOISE + body + "result = x\n"


def _filled(name: str, text: str) -> str:
    chosen = random.Random(name)
    n, m, k = chosen.sample(range(1, 7), 3)
    word = chosen.choice(["red", "blue", "green"])
    return text.format(n=n, m=m, k=k, w=word, t=chosen.choice(["a.txt", "b.txt"])) + "\n"


def check(program: Program, folder: Path) -> Outcome:
    """Compare a program with its slice, and with itself where a line outside is another."""
    outcome = Outcome(program.name)
    tree = ast.parse(program.text)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        whole, again = _result(tree, folder), _result(tree, folder)
        if whole is None or whole != again:
            return outcome
        outcome.ran = True
        provenance = text_provenance(program.text)
        answer = provenance.depends("result")
        outcome.certain = answer.certain
        _compare_slice(outcome, provenance, whole, folder)
        kept = {line.number for line in answer.lines}
        for place, (statement, _, _) in enumerate(statements(tree)):
            if statement.lineno in kept or isinstance(statement, ast.Pass | ast.Global):
                continue
            for other in _changed(tree, place):
                after = _result(other, folder)
                if after is None:
                    continue
                outcome.compared += 1
                if after != whole:
                    outcome.wrong.append(f"line {statement.lineno}: {ast.unparse(statement)}")
    return outcome


def _compare_slice(
    outcome: Outcome, provenance: ScriptProvenance, whole: str, folder: Path
) -> None:
    text = provenance.slice("result")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        outcome.wrong.append(f"the slice does not parse: {error}")
        return
    after = _result(tree, folder)
    outcome.compared += 1
    if after != whole:
        outcome.wrong.append(f"the slice gives {after} and not {whole}")


def _changed(tree: ast.Module, place: int) -> Iterator[ast.Module]:
    """The program without a statement, and with another number in it."""
    other = copy.deepcopy(tree)
    statement, body, at = statements(other)[place]
    body[at] = ast.copy_location(ast.Pass(), statement)
    yield other
    other = copy.deepcopy(tree)
    statement, _, _ = statements(other)[place]
    for node in ast.walk(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            node.value += 1
            yield other
            break


def _result(tree: ast.Module, folder: Path) -> str | None:
    """What a program leaves in ``result``, run in a process of its own; None: it raised."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(5)
        np.random.seed(0)
        with contextlib.suppress(NotEndedError):
            os.write(writer, b"=" + shown(run(tree, folder).get("result")).encode()[:60_000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as results:
        text = results.read()
    os.waitpid(child, 0)
    return text[1:].decode(errors="replace") if text.startswith(b"=") else None


def main() -> None:
    """Check all programs that a file does not have yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    done = {}
    if given.output.exists():
        for line in given.output.read_text().splitlines():
            entry = json.loads(line)
            done[entry["name"]] = entry
    with tempfile.TemporaryDirectory() as folder, given.output.open("a") as output:
        for program in programs():
            if program.name in done or given.only not in program.name:
                continue
            entry = asdict(check(program, Path(folder) / "run"))
            done[program.name] = entry
            print(json.dumps(entry), file=output, flush=True)
    counts: Counter[str] = Counter()
    for entry in done.values():
        counts["programs"] += 1
        counts["ran"] += entry["ran"]
        counts["comparisons"] += entry["compared"]
        counts["certain"] += entry["ran"] and entry["certain"]
        counts["wrong"] += bool(entry["wrong"])
        counts["certain and wrong"] += bool(entry["wrong"]) and entry["certain"]
        if entry["wrong"]:
            print("CERTAIN" if entry["certain"] else "       ", entry["name"], entry["wrong"][:2])
    print(dict(counts))


if __name__ == "__main__":
    main()
