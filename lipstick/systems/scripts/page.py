"""A script or notebook as the explorer asks it: its text beside its graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.graphs.outline import Outline
from lipstick.explorer.graphs.source import GraphSource
from lipstick.explorer.params import Params
from lipstick.systems.scripts import Line, ScriptProvenance, script_provenance

LINES = 5_000
"""Lines of a file that are shown at most."""

FOUND = 50
"""Findings of a search at most."""


class ScriptSource:
    """A script: the views of its graph, its text, and what its lines depend on.

    Parameters
    ----------
    name
        What people call it.
    path
        A ``.py`` file or a notebook; nothing of it is run.

    Raises
    ------
    ScriptError
        A file that cannot be read, or does not parse.
    """

    kind = "script"

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.provenance: ScriptProvenance = script_provenance(path)
        graph = self.provenance.graph()
        self._opening = (
            "from lipstick.systems.scripts import script_provenance\n\n"
            f"script = script_provenance({str(path)!r})\ngraph = script.graph()"
        )
        self._graph = GraphSource(name, Outline.of_graph(graph), lambda: graph, self._opening)

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The questions, by name."""
        return {
            **self._graph.views,
            "script": self.script,
            "depends": self.depends,
            "search": self.search,
        }

    def search(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the variables, files and lines with a text."""
        del budget
        text, provenance = params.text("text").strip().lower(), self.provenance
        named = [("file", name) for name in (*provenance.inputs, *provenance.outputs)]
        named += [("variable", name) for name in provenance.variables]
        found = [
            {"sort": sort, "name": cell(name), "place": {"ask": name}, "note": ""}
            for sort, name in named
            if text and text in name.lower()
        ]
        files = provenance.script.files
        for file in files:
            for number, line in enumerate(file.text.splitlines()[:LINES], 1):
                if text and text in line.lower():
                    at = str(number) if len(files) == 1 else f"{file.name}:{number}"
                    found.append(
                        {
                            "sort": "line",
                            "name": cell(line.strip()),
                            "place": {"ask": at},
                            "note": at,
                        }
                    )
        return {"found": found[:FOUND], "total": len(found)}

    def script(self, params: Params, budget: Budget) -> dict[str, Any]:
        """The text of all files, and what the script reads, writes and leaves in variables."""
        del params, budget
        provenance = self.provenance
        return {
            "files": [
                {"name": file.name, "lines": file.text.splitlines()[:LINES]}
                for file in provenance.script.files
            ],
            "variables": [cell(name) for name in provenance.variables],
            "inputs": [cell(name) for name in provenance.inputs],
            "outputs": [cell(name) for name in provenance.outputs],
            "opaque": [self._assumed(a.line, a.why) for a in provenance.opaque[:50]],
            "python": self._opening,
        }

    def depends(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return what a criterion depends on or, by ``forwards``, affects: lines, files, variables.

        Parameters
        ----------
        params
            ``criterion``, as :meth:`ScriptProvenance.depends` takes it.
        """
        text, forwards = params.text("criterion"), params.flag("forwards")
        if not text.strip():
            raise ExploreError("Name a variable, a file or a line.")
        criterion: str | int = int(text) if text.isdecimal() else text
        provenance = self.provenance
        answer = provenance.concerns(criterion) if forwards else provenance.depends(criterion)
        budget.check()
        seeds = [provenance.stored.ids[node.id] for node in provenance.nodes(criterion)]
        return {
            "lines": [[line.file, line.number] for line in answer.lines],
            "files": [cell(name) for name in answer.files],
            "variables": [cell(name) for name in answer.variables],
            "assumptions": [self._assumed(a.line, a.why) for a in answer.assumptions[:20]],
            "opaque": [self._assumed(a.line, a.why) for a in answer.opaque[:20]],
            "certain": answer.certain,
            "seeds": seeds,
            "python": f"{self._opening}\n"
            f"script.{'concerns' if forwards else 'depends'}({criterion!r})",
        }

    def _assumed(self, line: Line, why: str) -> dict[str, Any]:
        return {"file": line.file, "line": line.number, "where": line.where, "why": cell(why)}
