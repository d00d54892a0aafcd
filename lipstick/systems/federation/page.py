"""A federation for the explorer: its stores as a map, and questions that cross them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphquery.federation import (
    Federation,
    NodesAnswer,
    PathsAnswer,
    open_federation,
    read_members,
)
from graphquery.federation.serving.disclosure import Disclosure
from lipstick.display.markup import counted
from lipstick.explorer.budget import Budget
from lipstick.explorer.cells import cell
from lipstick.explorer.errors import ExploreError
from lipstick.explorer.explorer import ExplorerSource
from lipstick.explorer.graphs.layout import Box, layout
from lipstick.explorer.graphs.source import open_graph
from lipstick.explorer.params import Params
from semiring.errors import LipstickError

_NAMED = 300
_COMPLETED = 20
_ASKED = ("ancestors", "descendants", "delete", "paths")


class FederationSource:
    """Stores that are queried as one.

    Parameters
    ----------
    name
        The display name.
    federation
        The federation; its members stay at the versions when it was opened.
    opening
        The Python code that opens it.
    disclosed
        By alias, the level of disclosure of a member, if known here.
    member_sources
        By folder, the graphs of members that disclose their nodes.
    """

    kind = "federation"

    def __init__(
        self,
        name: str,
        federation: Federation,
        opening: str,
        disclosed: Mapping[str, str] | None = None,
        member_sources: Mapping[Path, ExplorerSource] | None = None,
    ) -> None:
        self.name = name
        self.member_sources = dict(member_sources or {})
        self._disclosed = dict(disclosed or {})
        self.federation = federation
        self._opening = opening

    @classmethod
    def open(cls, name: str, path: Path) -> FederationSource:
        """Open the federation of a file of members."""
        opening = f"import lipstick\n\nfederation = lipstick.federation({str(path)!r})"
        members = read_members(path)
        disclosed = {
            alias: "as its server says" if member.remote else member.disclosure.name.lower()
            for alias, member in members.items()
        }
        federation = open_federation(path)
        folders = {
            alias: Path(member.location)
            for alias, member in members.items()
            if member.disclosure is Disclosure.NODES and alias in federation.directory.heads
        }
        graphs = {}
        for alias, at in folders.items():
            # A member without provenance is asked all the same: only its graph is not shown.
            with suppress(LipstickError):
                if at.is_dir():
                    graphs[at] = open_graph(alias, at)
        return cls(name, federation, opening, disclosed, graphs)

    @classmethod
    def at_hand(cls, name: str, federation: Federation) -> FederationSource:
        """Show a federation that is open."""
        return cls(name, federation, "federation = ...  # at hand")

    @property
    def views(self) -> dict[str, Callable[[Params, Budget], dict[str, Any]]]:
        """The available questions, by name."""
        return {"about": self.about, "crossing": self.crossing, "complete": self.complete}

    def about(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return the members, their availability, and a drawing of the channels between them."""
        del params, budget
        directory, members = self.federation.directory, self.federation.members
        rank_of = {alias: number for number, alias in enumerate(members)}
        channels: dict[tuple[int, int], list[str]] = {}
        for channel, exporter in directory.exporters.items():
            export = directory.heads[exporter].exports[channel]
            for importer in directory.importers.get(channel, ()):
                pair = rank_of[exporter], rank_of[importer]
                channels.setdefault(pair, []).append(
                    f"{export.name}, {counted(export.count, 'row')}"
                )
        boxes = [Box(max(120.0, 8.0 * len(alias) + 40), 58.0) for alias in members]
        placed = layout(boxes, list(channels))
        absent = directory.absent
        return {
            "members": [
                {
                    "alias": cell(alias),
                    "version": directory.heads[alias].version if alias in directory.heads else None,
                    "discloses": self._disclosed.get(alias),
                    **self._crossing_names(alias),
                    "absent": cell(str(absent[alias].message)) if alias in absent else None,
                    "at": [
                        float(side[number])
                        for side in (placed.x, placed.y, placed.width, placed.height)
                    ],
                }
                for number, alias in enumerate(members)
            ],
            "channels": [
                {"source": a, "target": b, "names": [cell(n) for n in names], "points": points}
                for ((a, b), names), points in zip(channels.items(), placed.paths, strict=True)
            ],
            "width": placed.size[0],
            "height": placed.size[1],
            "python": self._opening,
        }

    def complete(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return node names, ``alias::node``, that contain a text, for members whose graphs are
        local.

        Parameters
        ----------
        params
            ``text``; a text after ``alias::`` is searched in that member only.
        """
        alias, separator, rest = params.text("text").strip().rpartition("::")
        names: list[str] = []
        for member in self.member_sources.values():
            if not rest or (separator and member.name != alias):
                continue
            found = member.views["search"](Params({"text": rest}), budget)["found"]
            names += [f"{member.name}::{each['name']}" for each in found if each["sort"] == "node"]
        return {"names": names[:_COMPLETED]}

    def _crossing_names(self, alias: str) -> dict[str, list[str | None]]:
        """Return the names of the datasets that a member exports and imports."""
        head = self.federation.directory.heads.get(alias)
        if head is None:
            return {}
        exports = [cell(each.name) for each in head.exports.values()]
        return {"exports": exports, "imports": [cell(each.name) for each in head.imports.values()]}

    def crossing(self, params: Params, budget: Budget) -> dict[str, Any]:
        """Return an answer of the whole federation, with its parts by member and its missing parts.

        Parameters
        ----------
        params
            ``ask``: ancestors, descendants, delete or paths; ``nodes``, and for paths ``targets``,
            by ``alias::name``.
        """
        operation = params.text("ask")
        nodes = [str(node) for node in params.items("nodes")]
        if operation not in _ASKED or not nodes:
            raise ExploreError(f"Ask {', '.join(_ASKED)} of nodes by alias::name.")
        budget.check()
        targets = [str(node) for node in params.items("targets")]
        answer, told = self._answered(operation, nodes, targets)
        arguments = f"{nodes!r}, {targets!r}" if operation == "paths" else repr(nodes)
        return told | {
            "complete": answer.complete,
            "missing": [
                {"store": cell(part.store), "text": cell(self.federation.directory.explain(part))}
                for part in answer.missing
            ],
            "requests": answer.cost.requests,
            "bytes": answer.cost.sent + answer.cost.received,
            "python": f"{self._opening}\nfederation.{operation}({arguments})",
        }

    def _answered(
        self, operation: str, nodes: list[str], targets: list[str]
    ) -> tuple[NodesAnswer | PathsAnswer, dict[str, Any]]:
        """Return an answer, and its content for the page."""
        if operation == "paths":
            paths = self.federation.paths(nodes, targets)
            members = {name.partition("::")[0]: 1 for path in paths.paths for name in path}
            shown = [[cell(name) for name in path] for path in paths.paths]
            return paths, {"verdict": paths.verdict.value, "paths": shown, "members": members}
        ask = {
            "ancestors": self.federation.ancestors,
            "descendants": self.federation.descendants,
            "delete": self.federation.delete,
        }[operation]
        answer = ask(nodes)
        names = self.federation.names(answer, _NAMED)
        sizes = {alias: len(those) for alias, those in answer.nodes.items()}
        told = {"names": [cell(name) for name in names], "count": len(answer), "members": sizes}
        return answer, told
