"""A dbt project as queries: each model and test is one query over seeds and sources."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from lipstick.systems.dbt.increments import merge_problem, merged
from lipstick.systems.dbt.manifest import BEFORE, DbtManifest, DbtNode, read_manifest
from lipstick.tracking.naming import free_name
from rewriter.dialect.renames import rename_relations
from rewriter.errors import QueryError
from semiring.errors import LipstickError
from semiring.support.door import checked

_NAMED_QUERY = re.compile(
    r"\b(\w+)`?\s*(?:\([^()]*\))?\s+as\s*(?:materialized\s*)?\(", re.IGNORECASE
)
_PLAIN = re.compile(r"\W")
INCREMENT = "_increment"
"""Suffix of the name of an increment's query."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a model or test cannot be queried, and its place in the project's files."""

    reason: str
    file: str
    line: int | None = None

    @property
    def place(self) -> str:
        """The file, with the line if known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    def of_reader(self, node: DbtNode) -> Refusal:
        """Return the refusal of a node that reads the given refused node."""
        if self.reason.startswith("it rests on"):
            return self
        return replace(self, reason=f"it rests on {node.title}: {self.reason}")


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
    """The offset of each node's text, and the node's id, in order."""

    def origin(self, offset: int) -> tuple[str, int] | None:
        """Return the node with an offset of the query's text, and the line in its compiled text."""
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
        The folder of artifacts, from the project's folder.
    archived
        The artifacts are of another state of the project than its files.

    Raises
    ------
    CaptureError
        There is no manifest, or not one of dbt Core 1.x.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        target: str | os.PathLike[str] = "target",
        *,
        archived: bool = False,
    ) -> None:
        self.folder = Path(folder)
        self.target = self.folder / target
        self.manifest: DbtManifest = read_manifest(self.folder, target, archived=archived)
        self._texts: dict[str, tuple[str, frozenset[str]] | Refusal] = {}
        self._columns: dict[str, tuple[str, ...]] = {}
        self._above: dict[str, set[str]] = {}

    # -- states --------------------------------------------------------------------------------

    def with_nodes(self, nodes: Mapping[str, DbtNode]) -> DbtProject:
        """Return the project with different nodes."""
        changed = copy.copy(self)
        for name in ("names", "by_name"):
            changed.__dict__.pop(name, None)
        changed.manifest = replace(self.manifest, nodes=nodes)
        changed._texts, changed._above = {}, {}
        return changed

    def with_table(self, node: DbtNode) -> DbtProject:
        """Return the project with a model or snapshot as a source: its table as it is."""
        table = replace(node, kind="source", parents=())
        return self.with_nodes({**self.manifest.nodes, node.id: table})

    def with_before(self, node: DbtNode) -> tuple[DbtProject, DbtNode]:
        """Return the project with an incremental model as a merge into its table, a source.

        Returns
        -------
        tuple
            The project, and the table as it was before the run that was compiled.

        Raises
        ------
        LipstickError
            The merge of the increment cannot be followed.
        """
        problem = merge_problem(node)
        if problem is not None:
            raise LipstickError(f"{node.title} is not merged into its table: {problem}.")
        table = DbtNode(f"{node.id}{BEFORE}", "source", f"{node.name} before", node.file)
        parents = (*node.parents, table.id)
        nodes = {**self.manifest.nodes, node.id: replace(node, parents=parents), table.id: table}
        return self.with_nodes(nodes), table

    def with_query(self, snapshot: DbtNode, suffix: str = "") -> DbtProject:
        """Return the project with a snapshot replaced by its query.

        Parameters
        ----------
        suffix
            A suffix of the names of seeds and sources.
        """
        config = {**snapshot.config, "materialized": "view"}
        view = replace(snapshot, kind="model", config=config, archived=True)
        changed = self.with_nodes({**self.manifest.nodes, snapshot.id: view})
        bases = {each.id for each in self.bases if each.id != snapshot.id}
        names = {e: f"{n}{suffix}" if e in bases else n for e, n in self.names.items()}
        changed.__dict__["names"] = names
        return changed

    def set_columns(self, table: DbtNode, columns: Sequence[str]) -> None:
        """Set the columns of a table into which an increment is merged."""
        self._columns[table.id] = tuple(columns)

    def with_state(self, other: DbtProject) -> DbtProject:
        """Return a different state of the project, with nodes named as in this one."""
        mine, names = self.manifest.nodes, dict(self.names)
        nodes = {each: node for each, node in mine.items() if each.endswith(BEFORE)}
        for each, node in other.manifest.nodes.items():
            is_base = each in mine and mine[each].kind in ("seed", "source")
            nodes[each] = replace(node, kind=mine[each].kind, parents=()) if is_base else node
        for each in other.names.keys() - names.keys():
            names[each] = free_name(names.values(), other.names[each])
        state = self.with_nodes(nodes)
        state.__dict__["names"] = names
        return state

    def with_text(self, node: DbtNode, other: DbtProject) -> DbtProject:
        """Return the project with a model's text from a different state."""
        mine, texts = self.manifest.nodes, {node.id: other.text(node)}
        for each in other._inlining(node):
            if each.id in mine and mine[each.id].code == each.code:
                texts[each.id] = other.text(each)
        theirs = other.manifest.nodes
        edited = {each: replace(theirs[each], relation=mine[each].relation) for each in texts}
        changed = self.with_nodes({**mine, **edited})
        changed.__dict__["names"], changed._texts = self.names, texts
        return changed

    def edited(self, other: DbtProject) -> list[DbtNode]:
        """Return the models whose text differs in another state.

        The text of an ephemeral model is part of the models that read it, which count as edited
        only if their own code differs.
        """
        theirs = other.manifest.nodes
        edited = [
            node
            for node in self.models
            if node.id in theirs and self._meaning(node) != other._meaning(theirs[node.id])
        ]
        inlined = {each.id for node in edited for each in self._inlining(node)}
        return [n for n in edited if n.id not in inlined or n.code != theirs[n.id].code]

    def _inlining(self, node: DbtNode) -> list[DbtNode]:
        """Return the models whose text includes an ephemeral model's."""
        if node.materialized != "ephemeral":
            return []
        reading = [each for each in self.models if node.id in each.parents]
        return [*reading, *(each for read in reading for each in self._inlining(read))]

    def _meaning(self, node: DbtNode) -> tuple[str | None, str | None]:
        """Return the texts that determine the rows of a model, independent of its schema."""
        read = self.text(node)
        if isinstance(read, Refusal):
            return node.code, node.compiled
        return read[0].strip(), self.merge(node)

    # -- nodes ---------------------------------------------------------------------------------

    @property
    def models(self) -> list[DbtNode]:
        """The models and snapshots, in a build order."""
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
        """Return the node with a name: its own, a source's with its group, or dbt's id.

        Raises
        ------
        LipstickError
            No node of these kinds has the name, or several have.
        """
        of_kinds, asked = list(self.manifest.of_kind(*kinds)), name.lower()
        found = [n for n in of_kinds if asked in map(str.lower, (n.id, n.title, *n.titles))]
        found = found or [node for node in of_kinds if asked == node.name.lower()]
        if len(found) != 1:
            names = ", ".join(sorted(node.title for node in found or of_kinds)) or "none"
            problem = "several nodes have" if found else "no node has"
            raise LipstickError(
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
            while taken & {name, f"{name}{INCREMENT}"}:
                name += "_"
            taken |= {name, f"{name}{INCREMENT}"}
            names[node.id] = name
        return names

    @cached_property
    def by_name(self) -> Mapping[str, DbtNode]:
        """The models, seeds and sources by their names in queries."""
        nodes = self.manifest.nodes
        return {name: nodes[each] for each, name in self.names.items() if each in nodes}

    def uniquely_tested(self, node: DbtNode) -> Iterator[str]:
        """Yield the columns of a node that are tested to be unique."""
        for test in self.manifest.of_kind("test"):
            if test.test == "unique" and test.parents == (node.id,) and test.column:
                yield test.column

    def rests_on(self, node: DbtNode, base: DbtNode) -> bool:
        """Return True if a node depends on the other, through any number of models."""
        return base.id in self._ancestors(node)

    def _ancestors(self, node: DbtNode) -> set[str]:
        if node.id in self._above:
            return self._above[node.id]
        found = self._above[node.id] = set()
        waiting = list(node.parents)
        while waiting:
            each = waiting.pop()
            if each not in found and each in self.manifest.nodes:
                found.add(each)
                waiting += self.manifest.nodes[each].parents
        return found

    def _ordered(self, *kinds: str) -> list[DbtNode]:
        nodes = self.manifest.of_kind(*kinds)
        return sorted(nodes, key=lambda node: (len(self._ancestors(node)), node.id))

    # -- queries -------------------------------------------------------------------------------

    def query(
        self, node: DbtNode, where: str | None = None, select: str | None = None
    ) -> ModelQuery | Refusal:
        """Return the query of a node over seeds and sources, or a refusal.

        Parameters
        ----------
        where
            A condition on the columns of its answer, in Spark SQL.
        select
            A query over the answer, which has the name of the node; None: its rows.
        """
        order: dict[str, None] = {}
        refusal = self._collect(node, order, ())
        return refusal or self._assembled(node, order, where, select)

    def own_query(self, node: DbtNode) -> ModelQuery:
        """Return the query of a node over relations with the names of the nodes that it reads."""
        return self._assembled(node, [node.id])

    def read_by(self, node: DbtNode) -> list[DbtNode]:
        """Return the nodes that the text of a node reads, in the order of their names."""
        text = self.text(node)
        return [] if isinstance(text, Refusal) else [self.by_name[name] for name in sorted(text[1])]

    def _assembled(
        self,
        node: DbtNode,
        order: Collection[str],
        where: str | None = None,
        select: str | None = None,
    ) -> ModelQuery:
        """Return the query with some nodes as common table expressions, in order."""
        text, starts = "", []
        known = self.manifest.nodes
        bases = tuple(each for each in order if known[each].kind in ("seed", "source"))
        for each in (each for each in order if each not in bases):
            text += "WITH " if not text else ",\n"
            name, merge = self.names.get(each, "asked"), self.merge(known[each])
            text += f"`{name}{INCREMENT if merge else ''}` AS (\n"
            starts.append((len(text), each))
            read = self.text(known[each])
            assert not isinstance(read, Refusal)
            text += f"{read[0]}\n)"
            if merge:
                text += f",\n`{name}` AS (\n{merge}\n)"
        select = select or f"SELECT * FROM `{self.names.get(node.id, 'asked')}`"
        text += f"{chr(10) if text else ''}{select}"
        if where is not None:
            text += f" WHERE\n{where}"
        return ModelQuery(text, bases, tuple(starts))

    def refusal(self, query: ModelQuery, node: DbtNode, error: Exception) -> Refusal:
        """Return the refusal of a query, at the place of its error in the file of the failing
        model.
        """
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
        """Add a node to `order` after the nodes that it reads, or return a refusal."""
        if node.id in order:
            return None
        if node.id in through:
            return Refusal(
                "it reads its own table, as an increment does: run dbt compile --full-refresh",
                node.file,
            )
        if node.kind not in ("seed", "source"):
            read = self.text(node)
            if isinstance(read, Refusal):
                return read
            for parent in self.read_by(node):
                refusal = self._collect(parent, order, (*through, node.id))
                if refusal is not None:
                    is_own = parent.id in (*through, node.id)
                    return refusal if is_own else refusal.of_reader(parent)
        order[node.id] = None
        return None

    def merge(self, node: DbtNode) -> str | None:
        """Return the query of an incremental model's table after the merge of its increment."""
        table = f"{node.id}{BEFORE}"
        if table not in self.manifest.nodes:
            return None
        name = self.names[node.id]
        return merged(
            node, self.names[table], f"{name}{INCREMENT}", self._columns.get(table, ("*",))
        )

    def text(self, node: DbtNode) -> tuple[str, frozenset[str]] | Refusal:
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
        # A model and a source may have one table, and the node depends on one of them.
        last = sorted(self.names, key=lambda e: (e in node.parents, known[e].kind == "model"))
        names = {known[each].relation: self.names[each] for each in last if known[each].relation}
        if (table := f"{node.id}{BEFORE}") in known:
            names[node.relation] = self.names[table]
        try:
            return rename_relations(compiled, names, self.manifest.dialect)
        except QueryError as error:
            line = None if error.span is None else self._line(node, error.span.line)
            return Refusal(f"{error.problem}. {error.advice}", node.file, line)

    def _line(self, node: DbtNode, line: int) -> int | None:
        """Return the line of a node's file that corresponds to a line of its compiled text."""
        if node.code is None or node.compiled is None or not self.manifest.is_spark:
            return None
        written, compiled = node.code.splitlines(), node.compiled.splitlines()
        return line_of(written, compiled, line)


def line_of(written: list[str], compiled: list[str], line: int) -> int:
    """Return the line of a text with Jinja that corresponds to a line of the compiled text.

    Equal lines are matched in order; among the lines between two matches, the most similar one is
    taken.
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
