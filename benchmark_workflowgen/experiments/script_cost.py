"""``python -m benchmark_workflowgen script-cost FILES``: what the graph of a long script costs.

The files are written one after the other, again and again, until the script is long enough.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from pathlib import Path

import click

from benchmark_workflowgen.harness import processor_seconds
from lipstick.systems.scripts import text_provenance

_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)


def long_script(texts: list[str], lines: int) -> str:
    """One script of some texts, of at least so many lines."""
    parts: list[str] = []
    count = 0
    for text in itertools.cycle(texts):
        if count >= lines:
            break
        parts.append(_FUTURE.sub("", text))
        count += text.count("\n") + 1
    return "\n".join(parts)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--lines", default=10_000, show_default=True)
@click.option("--runs", default=3, show_default=True, help="The fastest counts.")
def main(files: tuple[Path, ...], lines: int, runs: int) -> None:
    """Time the graph of data dependence of a script, and storing it, in seconds of processor."""
    text = long_script([path.read_text(encoding="utf-8") for path in files], lines)
    text_provenance("a = 1\n")
    graph, stored = [], []
    for _ in range(runs):
        started = time.process_time()
        provenance = text_provenance(text)
        graph.append(time.process_time() - started)
        stored.append(processor_seconds(provenance.graph))
    measured = {
        "lines": text.count("\n") + 1,
        "initial_nodes": provenance.initial_size,
        "nodes": provenance.graph().node_count,
        "graph_s": round(min(graph), 2),
        "store_s": round(min(stored), 2),
    }
    click.echo(json.dumps(measured))
