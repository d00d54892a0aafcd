"""A question to a federation while it is being answered: the members to ask, the missing parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from graphquery.errors import FederationError, WireError
from graphquery.federation.crossings import rows as crossing
from graphquery.federation.crossings.boundary import BoundaryGraph
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.members.directory import Directory
from graphquery.federation.questions.answer import DAMAGED, UNTRUSTED, FederatedCost, MissingPart
from graphquery.federation.wire.messages import WireMessage
from graphquery.federation.wire.replies import fault
from graphquery.federation.wire.requests import StoreVersion
from graphquery.federation.wire.transport import RequestExchange, RequestFailure, printable
from semiring.arrays.segments import union
from semiring.base import Array

SEPARATOR = "::"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the evaluation, which affect the cost of an answer but not the answer.

    Parameters
    ----------
    sketches
        Whether sketches decide which rows need not be followed.
    boundary
        Whether the loaded boundary graphs are used.
    strict
        Whether an incomplete answer is an error.
    """

    sketches: bool = True
    boundary: bool = True
    strict: bool = False


@dataclass(slots=True)
class Question:
    """The state of a question of any kind.

    Parameters
    ----------
    directory
        The members' exports and imports, at their versions.
    exchange
        The sender of requests.
    boundary
        The loaded boundary graphs.
    options
        Options of the evaluation.
    zoomed
        By alias, the modules zoomed out.
    """

    directory: Directory
    exchange: RequestExchange
    boundary: BoundaryGraph
    options: Options
    zoomed: Mapping[str, frozenset[str]]
    missing: dict[tuple[str, str, str | None], MissingPart] = field(default_factory=dict)
    before: FederatedCost = field(default_factory=FederatedCost)
    noted: Callable[[Collection[str]], None] | None = None
    needed: set[str] = field(default_factory=set)
    """The aliases of the members that were asked, or should have been."""

    def note(self) -> None:
        """Pass the members that were needed to the callback, if there is one."""
        if self.noted is not None:
            lost = {each.store for each in self.missing.values()}
            self.noted(sorted(self.needed | (self.directory.absent.keys() & lost)))

    def store(self, alias: str) -> StoreVersion:
        """Return the version of a member that is asked, and its modules zoomed out."""
        return StoreVersion(self.directory.heads[alias].version, self.zoomed.get(alias, ()))

    @property
    def cost(self) -> FederatedCost:
        """The cost of the question so far."""
        return self.exchange.cost - self.before

    def by_alias(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return node names, ``alias::name``, by alias; members without a head are missing.

        Raises
        ------
        FederationError
            A name without an alias, or with one that no member has.
        """
        names_by_alias: dict[str, list[str]] = {}
        for name in names:
            alias, separator, own_name = name.partition(SEPARATOR)
            if not separator:
                raise FederationError(
                    f"{name!r} names no member.\nNames of nodes are ALIAS{SEPARATOR}NODE."
                )
            if alias in self.directory.absent:
                self.lose(alias, self.directory.absent[alias])
            elif alias not in self.directory.heads:
                members = ", ".join([*self.directory.heads, *self.directory.absent])
                raise FederationError(f"There is no member {alias!r}.\nThere are {members}.")
            else:
                names_by_alias.setdefault(alias, []).append(own_name)
        return names_by_alias

    def ask(self, requests: Mapping[str, WireMessage]) -> dict[str, WireMessage]:
        """Send a request to each of some members at once, and return the replies that arrive."""
        self.needed |= requests.keys()
        replies = self.exchange.round(list(requests.items()))
        replies_by_alias = {}
        for (alias, request), reply in zip(requests.items(), replies, strict=True):
            wrong = None if isinstance(reply, RequestFailure) else fault(request, reply)
            failure = (
                reply if isinstance(reply, RequestFailure) else RequestFailure(DAMAGED, wrong or "")
            )
            if isinstance(reply, WireMessage) and wrong is None:
                replies_by_alias[alias] = reply
            else:
                self.lose(alias, failure, _rows_asked(request))
        return replies_by_alias

    def lose(self, alias: str, failure: RequestFailure, rows: Rows | None = None) -> None:
        """Record a member's failure, and the rows that were to be followed there, as missing."""
        if not rows:
            self.add([MissingPart(alias, failure.reason, message=failure.message)])
        for channel, numbers in (rows or {}).items():
            self.add([MissingPart(alias, failure.reason, channel, numbers, failure.message)])

    def add(self, missing: Iterable[MissingPart]) -> None:
        """Record missing parts, each store, reason and channel once."""
        for each in missing:
            key = (each.store, each.reason, each.channel)
            known = self.missing.get(key)
            rows = each.rows if known is None else union(known.rows, each.rows)
            message = each.message
            self.missing[key] = MissingPart(each.store, each.reason, each.channel, rows, message)

    def to_exporters(self, alias: str, rows: Rows) -> dict[str, dict[str, Array]]:
        """Return a member's imported rows by the alias of their exporter; others are missing."""
        rows_by_exporter: dict[str, dict[str, Array]] = {}
        lost = {}
        for channel, numbers in rows.items():
            exporter = self.directory.exporters.get(channel)
            if exporter is None or (alias, channel) in self.directory.disputes:
                lost[channel] = numbers
            else:
                rows_by_exporter.setdefault(exporter, {})[channel] = numbers
        self.add(self.directory.reason(alias, lost))
        return rows_by_exporter

    def to_importers(self, rows: Rows) -> dict[str, dict[str, Array]]:
        """Return exported rows by the aliases of the importers of their channels.

        Members without a head may be importers too, and are missing.
        """
        rows_by_importer: dict[str, dict[str, Array]] = {}
        for channel, numbers in rows.items():
            for importer in self.directory.importers.get(channel, ()):
                dispute = self.directory.disputes.get((importer, channel))
                if dispute is None:
                    rows_by_importer.setdefault(importer, {})[channel] = numbers
                else:
                    self.add([MissingPart(importer, UNTRUSTED, channel, numbers, dispute)])
        if rows:
            self.add(self.directory.all_absent())
        return rows_by_importer

    def crossed(self, alias: str, reply: WireMessage, *, imported: bool) -> dict[str, Array]:
        """Return the crossing rows of a reply that the member's head has, imported or exported.

        If the reply has other rows, the member is missing as damaged.
        """
        head = self.directory.heads[alias]
        known = head.imports if imported else head.exports
        try:
            rows, _ = crossing.from_table(reply.header.get("channels"), reply.tables.get("rows"))
        except WireError as error:
            self.lose(alias, RequestFailure(DAMAGED, str(error)))
            return {}
        counts = {channel: known[channel].count for channel in rows if channel in known}
        for channel, numbers in rows.items():
            if channel not in counts:
                text = f"Its reply names channel {channel}, which its head does not have."
            elif int(numbers[-1]) >= counts[channel]:
                text = (
                    f"Its reply names row {int(numbers[-1])} of {known[channel].name}, which has "
                    f"{counts[channel]} rows according to its head."
                )
            else:
                continue
            self.lose(alias, RequestFailure(DAMAGED, printable(text)))
        return {
            channel: numbers[numbers < counts[channel]]
            for channel, numbers in rows.items()
            if channel in counts
        }


def _rows_asked(request: WireMessage) -> Rows:
    """Return the rows that a request asks to follow."""
    header = request.header
    for channels, table in (("channels", "rows"), ("leaving", "exits"), ("entering", "entries")):
        if header.get(channels):
            return crossing.from_table(header[channels], request.tables[table])[0]
    return {}
