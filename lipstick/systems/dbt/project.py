"""A dbt project as queries: each model and test is one query over seeds and sources."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from lipstick.systems.dbt.errors import DbtError
from lipstick.systems.dbt.manifest import DbtManifest, DbtNode, read_manifest
from lipstick.tracking.naming import free_name
from rewriter.dialect.renames import rename_relations
from rewriter.errors import QueryError
from semiring.door import checked

_NAMED_QUERY = re.compile(
    r"\b(\w+)`?\s*(?:\([^()]*\))?\s+as\s*(?:materialized\s*)?\(", re.IGNORECASE
)
_PLAIN = re.compile(r"\W")


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a model or test cannot be asked, and the place in the project's files."""

    reason: str
    file: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The file, with the line if it is known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class ModelQuery:
    """A model or test as one query, whose common table expressions are the models that it reads.

    Attributes
    ----------
    bases
        The ids of the seeds and sources that it reads.
    """

    sql: str
    bases: tuple[str, ...]
    starts: tuple[tuple[int, str], ...]
    """The start of each node's text, and the id of the node; in order."""

    def origin(self, offset: int) -> tuple[str, int] | None:
        """Return the node that a place of the query is in, and its line in the compiled text."""
        found = None
        for start, node in self.starts:
            if start <= offset:
                found = node, 1 + self.sql.count("\n", start, offset)
        return found


@checked
class DbtProject:
    """A dbt project that was compiled, read from its files.

    Parameters
    ----------
    folder
        The project's folder, in which dbt compile, build or run wrote ``target/manifest.json``.
    target
        The name of the folder of artifacts.

    Raises
    ------
    CaptureError
        There is no manifest, or not one of dbt Core 1.x.
    """

    def __init__(self, folder: str | os.PathLike[str], target: str = "target") -> None:
        self.folder = Path(folder)
        self.manifest: DbtManifest = read_manifest(self.folder, target)
        self._texts: dict[str, tuple[str, frozenset[str]] | Refusal] = {}

    # -- nodes ---------------------------------------------------------------------------------

    @property
    def models(self) -> list[DbtNode]:
        """The models and snapshots, in an order in which they can be built."""
        return self._ordered("model", "snapshot")

    @property
    def tests(self) -> list[DbtNode]:
        """The data tests."""
        return self._ordered("test")

    @property
    def bases(self) -> list[DbtNode]:
        """The seeds and sources."""
        return list(self.manifest.of_kind("seed", "source"))

    def node(self, name: str, *kinds: str) -> DbtNode:
        """Return the node of a name: its own, that of a source with its group, or dbt's id.

        Raises
        ------
        DbtError
            There is none of these kinds, or there are several.
        """
        of_kinds = list(self.manifest.of_kind(*kinds))
        found = [n for n in of_kinds if name.lower() in (n.id.lower(), n.title.lower())]
        found = found or [n for n in of_kinds if name.lower() == n.name.lower()]
        if len(found) != 1:
            names = ", ".join(sorted(node.title for node in found or of_kinds)) or "none"
            problem = "several nodes have" if found else "no node has"
            raise DbtError(
                f"{self.manifest.name}: {problem} the name {name!r}.\n"
                f"There are of {', '.join(kinds)}: {names}."
            )
        return found[0]

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The names of models, seeds and sources in queries, by id.

        No named query of a model's text has one of them.
        """
        taken: set[str] = set()
        for node in self.manifest.of_kind("model", "snapshot", "test"):
            taken |= {match.lower() for match in _NAMED_QUERY.findall(node.compiled or "")}
        names: dict[str, str] = {}
        for node in self.manifest.of_kind("seed", "source", "model", "snapshot"):
            prefix = "_".join(node.relation[-2:-1]) or self.manifest.name
            plain = _PLAIN.sub("_", node.name.lower())
            full = f"{_PLAIN.sub('_', prefix)}_{plain}"
            name = plain if plain not in taken else _PLAIN.sub("_", free_name(taken, full))
            while name in taken:
                name += "_"
            taken.add(name)
            names[node.id] = name
        return names

    def rests_on(self, node: DbtNode, base: DbtNode) -> bool:
        """Return True if a node depends on another, through any number of models."""
        return base.id in self._ancestors(node)

    def _ancestors(self, node: DbtNode) -> set[str]:
        found: set[str] = set()
        waiting = list(node.parents)
        while waiting:
            each = waiting.pop()
            if each not in found and each in self.manifest.nodes:
                found.add(each)
                waiting += self.manifest.nodes[each].parents
        return found

    def _ordered(self, *kinds: str) -> list[DbtNode]:
        nodes = list(self.manifest.of_kind(*kinds))
        depth = {node.id: len(self._ancestors(node)) for node in nodes}
        return sorted(nodes, key=lambda node: (depth[node.id], node.id))

    # -- queries -------------------------------------------------------------------------------

    def query(self, node: DbtNode, where: str | None = None) -> ModelQuery | Refusal:
        """Return the query of a node over seeds and sources, or why there is none.

        Parameters
        ----------
        where
            A condition on the columns of its answer, in Spark SQL.
        """
        order: dict[str, None] = {}
        refusal = self._collect(node, order, ())
        if refusal is not None:
            return refusal
        text, starts = "", []
        known = self.manifest.nodes
        bases = tuple(each for each in order if known[each].kind in ("seed", "source"))
        for each in (each for each in order if each not in bases):
            text += "WITH " if not text else ",\n"
            text += f"`{self.names.get(each, 'asked')}` AS (\n"
            starts.append((len(text), each))
            read = self._texts[each]
            assert not isinstance(read, Refusal)
            text += f"{read[0]}\n)"
        name = self.names.get(node.id, "asked")
        text += f"{chr(10) if text else ''}SELECT * FROM `{name}`"
        if where is not None:
            text += f" WHERE\n{where}"
        return ModelQuery(text, bases, tuple(starts))

    def refusal(self, query: ModelQuery, node: DbtNode, error: Exception) -> Refusal:
        """Return the refusal of a query, at the place in the file of the model that is meant."""
        reason = str(error)
        at = None
        if isinstance(error, QueryError):
            reason = f"{error.problem}. {error.advice}"
            at = None if error.span is None else query.origin(error.span.start)
        if at is None:
            return Refusal(reason, node.file)
        meant = self.manifest.nodes[at[0]]
        if meant.id != node.id:
            reason = f"it rests on {meant.title}: {reason}"
        return Refusal(reason, meant.file, self._line(meant, at[1]))

    def _collect(
        self, node: DbtNode, order: dict[str, None], through: tuple[str, ...]
    ) -> Refusal | None:
        """Add a node to `order` after the nodes that it reads; return why it cannot be read."""
        if node.id in order:
            return None
        if node.id in through:
            return Refusal(
                "it reads its own table, as an increment does: run dbt compile --full-refresh",
                node.file,
            )
        if node.kind not in ("seed", "source"):
            read = self._text(node)
            if isinstance(read, Refusal):
                return read
            by_name = {name: each for each, name in self.names.items()}
            for name in sorted(read[1]):
                parent = self.manifest.nodes[by_name[name]]
                refusal = self._collect(parent, order, (*through, node.id))
                if refusal is not None:
                    if parent.id in (*through, node.id) or refusal.reason.startswith("it rests on"):
                        return refusal
                    reason = f"it rests on {parent.title}: {refusal.reason}"
                    return Refusal(reason, refusal.file, refusal.line)
        order[node.id] = None
        return None

    def _text(self, node: DbtNode) -> tuple[str, frozenset[str]] | Refusal:
        """Return the text of a node over the names of this project, and the names it reads."""
        if node.id not in self._texts:
            self._texts[node.id] = self._renamed(node)
        return self._texts[node.id]

    def _renamed(self, node: DbtNode) -> tuple[str, frozenset[str]] | Refusal:
        problem = self.manifest.problem(node)
        if problem is not None:
            return Refusal(problem, node.file)
        compiled = (node.compiled or "").rstrip().rstrip(";")
        known = self.manifest.nodes
        own_last = sorted(self.names.items(), key=lambda item: known[item[0]].kind == "model")
        names = {known[each].relation: name for each, name in own_last if known[each].relation}
        try:
            return rename_relations(compiled, names, self.manifest.dialect)
        except QueryError as error:
            line = None if error.span is None else self._line(node, error.span.line)
            return Refusal(f"{error.problem}. {error.advice}", node.file, line)

    def _line(self, node: DbtNode, line: int) -> int | None:
        """Return the line of a node's file that a line of its compiled text comes from."""
        if node.code is None or node.compiled is None or not self.manifest.is_spark:
            return None
        written, compiled = node.code.splitlines(), node.compiled.splitlines()
        return line_of(written, compiled, line)


def line_of(written: list[str], compiled: list[str], line: int) -> int:
    """Return the line of a text with Jinja that a line of the compiled text comes from.

    Lines that are the same are matched in order; among the lines between two matches that most
    like it is taken.
    """
    matcher = SequenceMatcher(None, written, compiled, autojunk=False)
    at = line - 1
    for kind, start, end, first, last in matcher.get_opcodes():
        if not first <= at < last:
            continue
        if kind == "equal":
            return start + at - first + 1
        if start == end:
            return max(start, 1)
        text = compiled[at]
        return 1 + max(
            range(start, end), key=lambda i: (SequenceMatcher(None, written[i], text).ratio(), -i)
        )
    return max(1, min(line, len(written)))
