"""The provenance of a script: what its variables, files and lines depend on, and concern."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from graphquery import ProvenanceGraph
from graphquery.errors import closest
from lipstick.systems.scripts.answers import Assumption, Dependence, Line
from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.facts import catalogue
from lipstick.systems.scripts.graph import ScriptGraph
from lipstick.systems.scripts.model import DOUBT, Place, ScriptNode
from lipstick.systems.scripts.reading.read import ScriptReading, read
from lipstick.systems.scripts.reading.values import Reference
from lipstick.systems.scripts.rules import rewrite
from lipstick.systems.scripts.script_text import (
    CALLS,
    TOO_DEEP,
    Script,
    read_script,
    script_of,
)
from lipstick.systems.scripts.store import StoredProvenance, stored
from lipstick.systems.scripts.structure import Structure, program, structure
from semiring.support.depth import recursion_limit

Criterion: TypeAlias = str | int
"""``result``, ``result@8``, ``out.csv``, ``<stdout>``, ``8``, ``helpers.py:8``."""

_VERSION = re.compile(r"(?P<name>\w+)@(?:(?P<file>.+):)?(?P<line>\d+)")
_LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>\d+)")


def resolve(
    script: Script, reading: ScriptReading, graph: ScriptGraph, criterion: Criterion
) -> list[ScriptNode]:
    """The nodes that a criterion means.

    Raises
    ------
    ScriptError
        With the names most like it.
    """
    text = str(criterion)
    if text in reading.variables:
        refs = [(node, key) for node, key, _ in reading.variables[text]]
        nodes = [graph.nodes[number] for number in graph.resolve(refs)]
        if nodes:
            return nodes
    if text in reading.files:
        refs = [(node, key) for node, key, _ in reading.files[text]]
        nodes = [graph.nodes[number] for number in graph.resolve(refs)]
        if any(text in node.writes or text.startswith("<") for node in graph.nodes.values()):
            return [*nodes, *_open(reading, graph)]
    named = [node for node in graph.nodes.values() if text in (*node.reads, *node.writes)]
    if named:
        return [*named, *_open(reading, graph)]
    if match := _VERSION.fullmatch(text):
        return _version(script, graph, text, match["name"], match["file"], int(match["line"]))
    if match := _LINE.fullmatch(text):
        return _line(script, graph, text, match["file"], int(match["line"]))
    inner = [node for node in graph.nodes.values() if text in node.views]
    if inner:
        return inner
    names = [*reading.variables, *reading.files]
    names += [name for node in graph.nodes.values() for name in (*node.reads, *node.views)]
    raise ScriptError(
        f"{script.main.name} has no variable or file {text!r}.\n{closest(text, set(names))}"
    )


def _open(reading: ScriptReading, graph: ScriptGraph) -> list[ScriptNode]:
    """Return the nodes that stand for what the text leaves open about the files of a script."""
    refs = [(node, key) for node, key, _ in reading.open_files]
    return [graph.nodes[number] for number in graph.resolve(refs) if number in graph.doubts]


def _file(script: Script, name: str | None, text: str) -> int:
    if name is None:
        return 0
    for number, file in enumerate(script.files):
        if file.name == name:
            return number
    known = closest(name, [file.name for file in script.files])
    raise ScriptError(f"{text}: {script.main.name} reads no file {name!r}.\n{known}")


def _version(
    script: Script, graph: ScriptGraph, text: str, variable: str, file: str | None, line: int
) -> list[ScriptNode]:
    number = _file(script, file, text)
    versions = [
        node
        for node in graph.nodes.values()
        if variable in node.views and node.place.file == number
    ]
    nodes = [node for node in versions if node.place.line <= line <= node.place.end]
    if nodes:
        return nodes
    lines = sorted({node.place.line for node in versions})
    if not lines:
        raise ScriptError(
            f"{text}: no line makes a version of {variable}.\n"
            f"{closest(variable, {view for node in graph.nodes.values() for view in node.views})}"
        )
    raise ScriptError(
        f"{text}: line {line} makes no version of {variable}.\nLines"
        f" {', '.join(map(str, lines))} do."
    )


def _line(
    script: Script, graph: ScriptGraph, text: str, file: str | None, line: int
) -> list[ScriptNode]:
    number = _file(script, file, text)
    nodes = [
        node
        for node in graph.nodes.values()
        if any(
            place.file == number and place.line <= line <= place.end for place in graph.places(node)
        )
    ]
    if nodes:
        return nodes
    count = script.files[number].text.count("\n") + 1
    if not 0 < line <= count:
        raise ScriptError(f"{script.files[number].name} has {count} lines, and no line {line}.")
    raise ScriptError(
        f"Line {line} of {script.files[number].name} computes nothing that is reached:"
        f" {script.files[number].line(line).strip()!r}.\nAsk about a line of code that runs."
    )


Order: TypeAlias = Literal["position", "executed"]


WITHOUT_TEXT = frozenset({"union", "selection", "earlier iterations"})
"""Operations of PEs that rules have made, which no line has."""


@dataclass(slots=True, eq=False)
class ScriptProvenance:
    """The workflow provenance of a script, by its text alone.

    Made by :func:`script_provenance`.

    Attributes
    ----------
    final
        The graph of data dependences that the rules make of it.
    applied
        By rule how often it was applied.
    initial_size
        How many nodes the initial graph had.
    """

    script: Script
    reading: ScriptReading
    final: ScriptGraph
    applied: dict[str, int]
    initial_size: int = 0
    _structure: Structure = field(default_factory=Structure)
    _stored: StoredProvenance | None = None

    @property
    def stored(self) -> StoredProvenance:
        """The final graph as segments and edges, and which of its nodes is which; built once."""
        if self._stored is None:
            self._stored = stored(self.final, self.script)
        return self._stored

    # -- the graph -----------------------------------------------------------------------------

    def graph(self) -> ProvenanceGraph:
        """The graph as a :class:`graphquery.ProvenanceGraph`.

        Calls of functions, and cells of a notebook, are the invocations of modules, so that zooming
        out hides what they do inside. Files that are read are its tokens.
        """
        return self.stored.graph

    @property
    def variables(self) -> tuple[str, ...]:
        """The global variables that the script has at its end."""
        return tuple(sorted(self.reading.variables))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The files, tables and streams that the script writes."""
        return tuple(sorted({name for node in self.final.nodes.values() for name in node.writes}))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The files, tables and streams that the script reads and has not written itself."""
        return tuple(sorted({name for node in self.final.nodes.values() for name in node.reads}))

    @property
    def opaque(self) -> tuple[Assumption, ...]:
        """The places that are not followed, and why."""
        return tuple(Assumption(self.line(place), why) for place, why in self.reading.opaque)

    def line(self, place: Place) -> Line:
        """The first line of a place."""
        file = self.script.files[place.file]
        return Line(file.name, place.line, file.where(place.line), file.line(place.line).strip())

    # -- questions -----------------------------------------------------------------------------

    def nodes(self, criterion: Criterion) -> list[ScriptNode]:
        """The nodes that a criterion means; see :meth:`depends`.

        Raises
        ------
        ScriptError
            The script has no such variable, version, file or line.
        """
        return resolve(self.script, self.reading, self.final, criterion)

    def depends(self, *criteria: Criterion) -> Dependence:
        """Return the lines, files and variables that the criteria depend on.

        Parameters
        ----------
        criteria
            ``result``: the last version of a global variable. ``result@8``: the versions made at
            line 8. ``out.csv``, ``<stdout>``: what is written there. A number, or ``module.py:8``:
            all that a line computes.

        Returns
        -------
        Dependence
            Its lines are a static slice (Weiser): if both runs come to an end, changing other lines
            never changes what was asked about.

        Raises
        ------
        ScriptError
            The script has no such variable, version, file or line.
        """
        seeds = [node.id for criterion in criteria for node in self.nodes(criterion)]
        return self._dependence(seeds, forwards=False)

    def concerns(self, *criteria: Criterion) -> Dependence:
        """Return the lines, files and variables that a change of the criteria may change.

        Parameters
        ----------
        criteria
            As of :meth:`depends`; of a file also one that is read.
        """
        seeds = [node.id for criterion in criteria for node in self.nodes(criterion)]
        return self._dependence(seeds, forwards=True)

    def slice(self, *criteria: Criterion) -> str:
        """Return a program that computes the criteria as the script does; a line stays a line.

        It has the lines that :meth:`depends` finds, and the lines that these need to be run, since
        a line may compute more than what is asked about. Where nothing is left of a body, ``pass``
        stands for it.
        """
        reached: set[int] = set()
        seeds = {node.id for criterion in criteria for node in self.nodes(criterion)}
        lines: set[tuple[int, int]] = set()
        while not seeds <= reached:
            reached |= self._reached(seeds, forwards=False)
            places = {place for n in reached for place in self.final.places(self.final.nodes[n])}
            lines = self._structure.closed(places, keywords=True)
            inside = {self.final.nodes[number].instance for number in reached}
            instances = {0}.union(*map(self.final.around, inside))
            seeds = {
                node.id
                for node in self.final.nodes.values()
                if self._written_in(node) in instances
                and (node.place.file, node.place.line) in lines
                and node.operation not in WITHOUT_TEXT
            }
        main = self.script.main
        kept = {line for file, line in lines if file == 0}
        return program(main.text, main.tree, kept)

    def _written_in(self, node: ScriptNode) -> int:
        """Return the instance whose text a node stands in: a parameter's is that of the call."""
        if not node.instance:
            return 0
        instance = self.final.instances[node.instance - 1]
        return instance.outer if instance.call == node.place else node.instance

    def reached(self, nodes: Iterable[int]) -> set[int]:
        """The numbers of the nodes that some depend on, with these."""
        return self._reached(nodes, forwards=False)

    def _reached(self, seeds: Iterable[int], *, forwards: bool) -> set[int]:
        ids = np.array([self.stored.ids[seed] for seed in seeds], dtype=np.int64)
        return set(self.stored.reached(ids, forwards=forwards))

    def _dependence(self, seeds: Sequence[int], *, forwards: bool) -> Dependence:
        reached = self._reached(seeds, forwards=forwards)
        nodes = [self.final.nodes[number] for number in sorted(reached)]
        return Dependence(
            self._lines(nodes),
            self._files(nodes, reached, forwards),
            self._variables(reached),
            self._assumptions(reached),
            self._opaque(nodes),
        )

    def _lines(self, nodes: Iterable[ScriptNode]) -> tuple[Line, ...]:
        places = {place for node in nodes for place in self.final.places(node)}
        lines = self._structure.closed(places)
        files = self.script.files
        return tuple(
            Line(files[f].name, number, files[f].where(number), files[f].line(number).strip())
            for f, number in sorted(lines)
        )

    def _files(
        self, nodes: Iterable[ScriptNode], reached: set[int], forwards: bool
    ) -> tuple[str, ...]:
        names = {n for node in nodes for n in (node.writes if forwards else node.reads)}
        if forwards:
            # Whether something is written may depend on it where what is written does not.
            known = self.reading.files
            names |= {name for name in self.outputs if self._is_in(known.get(name, ()), reached)}
        return tuple(sorted(names))

    def _is_in(self, refs: Iterable[Reference], reached: set[int]) -> bool:
        return not reached.isdisjoint(self.final.resolve((n, key) for n, key, _ in refs))

    def _variables(self, reached: set[int]) -> tuple[str, ...]:
        known = self.reading.variables
        return tuple(sorted(name for name, refs in known.items() if self._is_in(refs, reached)))

    def _assumptions(self, reached: set[int]) -> tuple[Assumption, ...]:
        assumed: dict[Assumption, None] = {}
        for number in sorted(reached):
            for edge, why in self.final.incoming[number].items():
                doubted = edge.source in self.final.doubts
                if why is not None and edge.source in reached and not doubted:
                    assumed[Assumption(self.line(self.final.nodes[number].place), why)] = None
        for number in sorted(reached & self.final.doubts - self.final.carried.keys()):
            node = self.final.nodes[number]
            assumed[Assumption(self.line(node.place), str(node.value))] = None
        for place, why in self.reading.anything:
            assumed[Assumption(self.line(place), why)] = None
        return tuple(assumed)

    def _opaque(self, followed: Iterable[ScriptNode]) -> tuple[Assumption, ...]:
        entries: dict[Assumption, None] = {}
        for node in followed:
            why = node.value if node.operation == DOUBT else node.unknown
            if why is not None:
                entries[Assumption(self.line(node.place), str(why))] = None
        entries |= {Assumption(self.line(p), why): None for p, why in self.reading.anything}
        return tuple(entries)


def script_provenance(
    path: str | Path, *, facts: Iterable[str | Path] = (), order: Order = "position"
) -> ScriptProvenance:
    """The workflow provenance of a script or notebook, read from its text; nothing is run.

    Parameters
    ----------
    path
        A ``.py`` file, whose project's modules are read as it imports them, or an ``.ipynb``.
    facts
        YAML files with facts about calls, which take precedence over the catalogue's.
    order
        The order of a notebook's cells: by ``position``, or as they were last ``executed``.

    Raises
    ------
    ScriptError
        A file that cannot be read, does not parse, or is not a notebook; wrong facts.
    """
    return of_script(read_script(Path(path), order), facts)


def text_provenance(
    text: str, *, name: str = "script.py", facts: Iterable[str | Path] = ()
) -> ScriptProvenance:
    """The workflow provenance of a script given as text; see :func:`script_provenance`."""
    return of_script(script_of(text, name), facts)


def of_script(script: Script, facts: Iterable[str | Path] = ()) -> ScriptProvenance:
    """The workflow provenance of a script that was read."""
    known = catalogue(Path(path) for path in facts)
    collects = gc.isenabled()
    # Nodes and edges live until the end: looking through them for garbage takes a third of all.
    gc.disable()
    try:
        with recursion_limit(CALLS):
            reading = read(script, known)
            size = len(reading.graph.nodes)
            applied = rewrite(reading.graph)
            statements = structure(script)
    except RecursionError as error:
        raise ScriptError(f"{script.main.name} has {TOO_DEEP}") from error
    finally:
        if collects:
            gc.enable()
    return ScriptProvenance(script, reading, reading.graph, applied, size, statements)
