"""A federation: many stores queried as one."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from graphquery.errors import FederationError
from graphquery.federation.copies.copies import CopiedTransport, ObjectTransport
from graphquery.federation.crossings.boundary import BoundaryGraph
from graphquery.federation.crossings.relation import BoundaryRelation
from graphquery.federation.members.cache import Cache, lineage_ranks
from graphquery.federation.members.directory import Directory
from graphquery.federation.members.refresh import fetch_boundary, fetch_directory
from graphquery.federation.questions import closure, flow, values
from graphquery.federation.questions.answer import (
    FederatedCost,
    FederationAnswer,
    MissingPart,
    NodesAnswer,
    PathsAnswer,
    ValuesAnswer,
    Verdict,
    VerdictAnswer,
)
from graphquery.federation.questions.fragments import search_paths
from graphquery.federation.questions.merged_graph import SEPARATOR, merged_graph, merged_on_spark
from graphquery.federation.questions.question import Options, Question
from graphquery.federation.wire import requests
from graphquery.federation.wire.messages import REPLY, Limits
from graphquery.federation.wire.transport import LocalTransport, RequestExchange, StoreTransport
from graphquery.graph import ProvenanceGraph
from graphquery.store import Snapshot, Store
from semiring.base import Semiring, TokenValuation

if TYPE_CHECKING:
    from graphquery.distributed.graph import SparkGraph

Names = str | Iterable[str]
"""One node or several, ``alias::name``."""

A = TypeVar("A", bound=FederationAnswer)


class Federation:
    """Stores by alias that answer questions as if their graphs were one.

    Every answer equals the operation on the merged graph (`merged`), at the versions that members
    had when the federation was opened or refreshed last, or lists what is missing.

    Parameters
    ----------
    transports
        The transports to the members, by alias, in the order of the merged graph.
    expected
        By alias, the expected identities of members.
    options
        Options of the evaluation.
    timeout
        Timeout of one reply in seconds.
    home
        The member that asks the questions: requests to it do not count as cost.
    cache
        A cache of the other members' replies, if any.
    noted
        Called after every question with the members that it needed.
    limits
        Limits of one reply; if it is longer, it is not read to its end, and the member counts as
        missing.
    """

    def __init__(
        self,
        transports: Mapping[str, StoreTransport],
        expected: Mapping[str, str | None] | None = None,
        *,
        options: Options | None = None,
        timeout: float | None = None,
        home: str | None = None,
        cache: Cache | None = None,
        noted: Callable[[Collection[str]], None] | None = None,
        limits: Limits = REPLY,
    ) -> None:
        if home is not None and home not in transports:
            raise FederationError(f"The federation has no member {home!r} to be at home in.")
        self._transports = dict(transports)
        self._expected = dict(expected or {})
        self._options = options or Options()
        self._cache = cache
        self._noted = noted
        self._exchange = RequestExchange(self._transports, timeout, limits, home, cache)
        self._relations: dict[str, BoundaryRelation] = {}
        self._boundary = BoundaryGraph([])
        self._zoomed: Mapping[str, frozenset[str]] = MappingProxyType({})
        self._directory = Directory({}, {}, {})
        self.refresh()

    def __enter__(self) -> Federation:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections to servers; another question opens them again."""
        for transport in self._transports.values():
            transport.close()

    # -- what there is ---------------------------------------------------------------------

    @property
    def members(self) -> tuple[str, ...]:
        """The aliases of all members."""
        return tuple(self._transports)

    @property
    def directory(self) -> Directory:
        """The members' exports and imports."""
        return self._directory

    @property
    def boundary(self) -> BoundaryGraph:
        """The loaded boundary graphs."""
        return self._boundary

    @property
    def cost(self) -> FederatedCost:
        """The cost of all questions so far, including refreshes."""
        return self._exchange.cost

    def refresh(self) -> Directory:
        """Ask all members for their newest versions, which later questions are about.

        Boundary graphs of channels that are new are fetched, from members that disclose them. What
        is zoomed out stays so.

        Raises
        ------
        FederationError
            A member is not the expected store, or members contradict each other.
        """
        expected = {alias: self._expected.get(alias) for alias in self._transports}
        self._directory = fetch_directory(self._exchange, expected)
        if self._cache is not None:
            self._cache.ranks = lineage_ranks(self._directory.made_of)[1]
        if self._options.boundary:
            self._relations |= fetch_boundary(self._exchange, self._directory, self._relations)
            self._boundary = BoundaryGraph(self._relations.values())
        return self._directory

    # -- questions -------------------------------------------------------------------------

    def ancestors(self, nodes: Names, distance: int | None = None) -> NodesAnswer:
        """Return all ancestors of some nodes, across stores.

        Parameters
        ----------
        distance
            How many edges to go back at most; None for any number. The way from an exported node
            to the token that it was imported as is one edge.

        Raises
        ------
        FederationError
            A name without a member, or one that its store does not know.
        IncompleteError
            Parts are missing, and the options require complete answers.
        """
        return self._reached(nodes, distance, forwards=False)

    def descendants(self, nodes: Names, distance: int | None = None) -> NodesAnswer:
        """Return all descendants of some nodes, across stores; see `ancestors`."""
        return self._reached(nodes, distance, forwards=True)

    def _reached(self, nodes: Names, distance: int | None, *, forwards: bool) -> NodesAnswer:
        if distance is not None and distance < 0:
            raise FederationError(f"A distance cannot be {distance} edges.\nGive 0 or more.")
        question = self._question()
        if distance is None:
            reached = closure.walk(question, _listed(nodes), forwards=forwards).nodes
        else:
            reached = closure.walk_within(question, _listed(nodes), distance, forwards=forwards)
        return self._checked(NodesAnswer(*_account(question), reached))

    def flow(self, sources: Names, targets: Names) -> VerdictAnswer:
        """Return whether data could have flowed from any of `sources` to any of `targets`.

        YES if a path is known, whichever members are down; NO if there is none.
        """
        question = self._question()
        verdict, _ = flow.flow(question, _listed(sources), _listed(targets))
        if verdict is not Verdict.UNKNOWN:
            question.missing.clear()
        return self._checked(VerdictAnswer(*_account(question), verdict))

    def paths(
        self, sources: Names, targets: Names, limit: int = 10, longest: int | None = None
    ) -> PathsAnswer:
        """Return paths from some nodes to others, the shortest first, as in one graph.

        Parameters
        ----------
        limit
            How many paths at most.
        longest
            How many edges a path may have; None for any number.
        """
        if limit < 0 or (longest is not None and longest < 0):
            raise FederationError("Limits of paths cannot be negative.\nGive 0 or more.")
        question = self._question()
        ends = (_listed(sources), _listed(targets))
        verdict, shortest = search_paths(question, *ends, limit, longest)
        if verdict is Verdict.NO:
            question.missing.clear()
        return self._checked(PathsAnswer(*_account(question), verdict, tuple(shortest)))

    def delete(self, nodes: Names) -> NodesAnswer:
        """Return the nodes that a deletion removes, with the deleted ones; a lower bound if
        incomplete.
        """
        question = self._question()
        removal = closure.removal(question, _listed(nodes))
        return self._checked(NodesAnswer(*_account(question), removal.nodes))

    def depends(self, nodes: Names, on: Names) -> VerdictAnswer:
        """Return whether deleting all of `on` removes every one of `nodes`."""
        question = self._question()
        listed = _listed(nodes)
        removal = closure.removal(question, _listed(on), listed, requests.ROWS)
        gone = all(removal.gone.get(name, False) for name in listed)
        verdict = Verdict.YES if gone else Verdict.UNKNOWN if question.missing else Verdict.NO
        if gone:
            question.missing.clear()
        return self._checked(VerdictAnswer(*_account(question), verdict))

    def evaluate(
        self,
        semiring: Semiring[Any],
        nodes: Names,
        valuation: TokenValuation[Any] | Mapping[str, Any] = None,
    ) -> ValuesAnswer:
        """Return the annotations of nodes in a semiring, under a valuation of the tokens of all
        stores.

        Parameters
        ----------
        valuation
            As for a graph; names of nodes and relations begin with an alias. A token that stands
            for an exported row has the annotation of that row.
        """
        question = self._question()
        annotated = values.evaluate(question, semiring, valuation, _listed(nodes))
        return self._checked(ValuesAnswer(*_account(question), annotated))

    # -- views -----------------------------------------------------------------------------

    def zoom_out(self, *modules: str) -> Federation:
        """Return the federation with every invocation of some modules, ``alias::module``, as one
        node.
        """
        zoomed = dict(self._zoomed)
        for module in modules:
            alias, own_name = self._module(module)
            zoomed[alias] = zoomed.get(alias, frozenset()) | {own_name}
        return self._viewed(zoomed)

    def zoom_in(self, *modules: str) -> Federation:
        """Return the inverse of `zoom_out`."""
        zoomed = dict(self._zoomed)
        for module in modules:
            alias, own_name = self._module(module)
            zoomed[alias] = zoomed.get(alias, frozenset()) - {own_name}
        return self._viewed(zoomed)

    def _module(self, module: str) -> tuple[str, str]:
        alias, separator, own_name = module.partition(SEPARATOR)
        if not separator or alias not in self._transports:
            raise FederationError(
                f"{module!r} names no module of a member.\nNames of modules are "
                f"ALIAS{SEPARATOR}MODULE."
            )
        return alias, own_name

    def _viewed(self, zoomed: Mapping[str, frozenset[str]]) -> Federation:
        other = object.__new__(Federation)
        other.__dict__.update(self.__dict__)
        other._zoomed = MappingProxyType({alias: each for alias, each in zoomed.items() if each})
        return other

    # -- beside questions ------------------------------------------------------------------

    def names(self, answer: NodesAnswer, limit: int | None = None) -> list[str]:
        """Return the names of the nodes of an answer, in the order of the merged graph.

        Parameters
        ----------
        limit
            How many at most; None for all.
        """
        result: list[str] = []
        for alias in self._transports:
            if alias not in answer.nodes or (limit is not None and len(result) >= limit):
                continue
            question = self._question()
            left = None if limit is None else limit - len(result)
            wanted = answer.nodes[alias].first(left)
            store = replace(question.store(alias), version=answer.versions[alias])
            request = requests.names(store, wanted)
            reply = question.ask({alias: request})
            if alias in reply:
                texts = reply[alias].tables["names"].column("name").to_pylist()
                result += [f"{alias}{SEPARATOR}{text}" for text in texts]
        return result

    def merged(self) -> ProvenanceGraph:
        """Return the merged graph, of folders and copies; at the versions of the federation.

        Raises
        ------
        FederationError
            A member is a server, or has not answered.
        """
        return merged_graph(self._snapshots(), self._modules())

    def spark_graph(self, spark: Any, folder: str | os.PathLike[str]) -> SparkGraph:
        """Return the merged graph as data frames, for stores that do not fit one machine together.

        Parameters
        ----------
        spark
            A session whose workers all reach the members' folders.
        folder
            A new folder, which they reach too; delete it when the graph is no longer needed.

        Raises
        ------
        FederationError
            As for `merged`, and if modules are zoomed out: zoom the graph on Spark instead.
        """
        if self._zoomed:
            raise FederationError(
                f"{', '.join(self._modules())} is zoomed out.\nAsk the federation as it was opened "
                "for its graph on Spark, and zoom that."
            )
        return merged_on_spark(spark, self._snapshots(), folder)

    def _modules(self) -> list[str]:
        return [f"{a}{SEPARATOR}{module}" for a, each in self._zoomed.items() for module in each]

    def _snapshots(self) -> dict[str, Snapshot]:
        """Return the members' snapshots; raise if a member cannot be read here."""
        for dispute in self._directory.disputes.values():
            raise FederationError(f"The stores have no merged graph: {dispute}")
        snapshots = {}
        for alias, transport in self._transports.items():
            if (
                not isinstance(transport, LocalTransport | ObjectTransport | CopiedTransport)
                or alias in self._directory.absent
            ):
                raise FederationError(
                    f"{alias} cannot be read here, only asked.\nThe merged graph is of members that"
                    " are folders."
                )
            version = self._directory.heads[alias].version
            snapshots[alias] = Store.open(transport.path).snapshot(version)
        return snapshots

    def _question(self) -> Question:
        return Question(
            self._directory,
            self._exchange,
            self._boundary,
            self._options,
            self._zoomed,
            before=self._exchange.cost,
            noted=self._noted,
        )

    def _checked(self, answer: A) -> A:
        answer.checked(self._options.strict)
        return answer


def _account(
    question: Question,
) -> tuple[Mapping[str, int], tuple[MissingPart, ...], FederatedCost]:
    question.note()
    return question.directory.versions, tuple(question.missing.values()), question.cost


def _listed(nodes: Names) -> list[str]:
    return list(dict.fromkeys([nodes] if isinstance(nodes, str) else nodes))
