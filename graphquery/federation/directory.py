"""What a federation knows of its members before it asks about nodes: who exports, who imports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graphquery.federation.answer import BEHIND, OUTSIDE, Missing
from graphquery.federation.crossing_rows import Rows
from graphquery.federation.errors import CrossingError, FederationError
from graphquery.federation.head import Exported, Head
from graphquery.federation.transport import Failure


@dataclass(frozen=True, slots=True)
class Directory:
    """Heads of members, and why others have none.

    Parameters
    ----------
    heads
        By alias.
    absent
        By alias, the members without a head.
    identities
        By alias, the identities of stores as far as they are known, heads or not.
    exporters
        By channel, the alias of who exports it.
    importers
        By channel, the aliases of who imports it, in their order.
    """

    heads: Mapping[str, Head]
    absent: Mapping[str, Failure]
    identities: Mapping[str, str]
    exporters: Mapping[str, str] = field(default_factory=dict)
    importers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        heads: Mapping[str, Head],
        absent: Mapping[str, Failure],
        expected: Mapping[str, str | None],
    ) -> Directory:
        """The directory of heads that fit each other.

        Parameters
        ----------
        expected
            By alias, the identity that a member is to have; None for any.

        Raises
        ------
        FederationError
            A member is another store than it is to be, or one store is two members.
        CrossingError
            Two exporters of a channel, an import beyond its count, a cycle.
        """
        identities = {alias: store for alias, store in expected.items() if store is not None}
        for alias, head in heads.items():
            if identities.setdefault(alias, head.store) != head.store:
                raise FederationError(
                    f"{alias} is to be the store {identities[alias]}, but {head.store} is there.\n"
                    "Correct the location, or the identity in the file of the federation."
                )
        known: dict[str, str] = {}
        for alias, store in identities.items():
            if known.setdefault(store, alias) != alias:
                raise FederationError(f"{known[store]} and {alias} are one store, {store}.")
        exporters: dict[str, str] = {}
        importers: dict[str, list[str]] = {}
        for alias, head in heads.items():
            for channel, export in head.exports.items():
                if exporters.setdefault(channel, alias) != alias:
                    raise CrossingError(
                        f"{exporters[channel]} and {alias} both export {export.name} as channel "
                        f"{channel}.\nOne of them is a copy of the other: leave it out."
                    )
                if channel in export.channels:
                    raise CrossingError(
                        f"{alias} says that {export.name} is made from itself: there is a cycle."
                    )
            for channel in head.imports:
                importers.setdefault(channel, []).append(alias)
        importing = {channel: tuple(each) for channel, each in importers.items()}
        directory = cls(heads, absent, identities, exporters, importing)
        directory._check_imports()
        return directory

    @property
    def versions(self) -> dict[str, int]:
        """The version of each member that has a head."""
        return {alias: head.version for alias, head in self.heads.items()}

    @property
    def made_of(self) -> dict[str, tuple[str, ...]]:
        """By channel that a member with a head exports, the channels that it is made of."""
        heads = self.heads.values()
        return {c: each.channels for head in heads for c, each in head.exports.items()}

    def exported(self, channel: str) -> Exported | None:
        """A channel as its exporter describes it, if that has a head."""
        alias = self.exporters.get(channel)
        return None if alias is None else self.heads[alias].exports[channel]

    def may_export(self, alias: str, channel: str) -> bool:
        """Whether a channel is a member's, or may be one that its head does not have yet."""
        if channel in self.exporters:
            return self.exporters[channel] == alias
        owners = {
            head.imports[channel].store for head in self.heads.values() if channel in head.imports
        }
        return not owners or self.identities.get(alias) in owners

    def reason(self, importer: str, rows: Rows) -> Iterable[Missing]:
        """Why rows that a member imports cannot be followed to who exports them."""
        aliases = {store: alias for alias, store in self.identities.items()}
        for channel, numbers in rows.items():
            taken = self.heads[importer].imports[channel]
            alias = aliases.get(taken.store)
            unknown = [each for each in self.absent if each not in self.identities]
            if alias is None and unknown:
                # Who has not said which store it is may be this one.
                for each in unknown:
                    failure = self.absent[each]
                    yield Missing(each, failure.reason, channel, numbers, failure.message)
            elif alias is None:
                message = f"{taken.name} is of a store that is no member"
                yield Missing(taken.store, OUTSIDE, channel, numbers, message)
            elif alias in self.absent:
                failure = self.absent[alias]
                yield Missing(alias, failure.reason, channel, numbers, failure.message)
            else:
                message = (
                    f"{alias} is at commit {self.heads[alias].version}, and {taken.name} of commit "
                    f"{taken.commit} was imported from it"
                )
                yield Missing(alias, BEHIND, channel, numbers, message)

    def all_absent(self) -> list[Missing]:
        """All members without a head: what they import is not known."""
        return [
            Missing(alias, failure.reason, message=failure.message)
            for alias, failure in self.absent.items()
        ]

    def _check_imports(self) -> None:
        for alias, head in self.heads.items():
            for channel, taken in head.imports.items():
                export = self.exported(channel)
                if export is None:
                    continue
                if taken.count > export.count:
                    raise CrossingError(
                        f"{alias} imports {taken.count} rows of {taken.name}, which has "
                        f"{export.count}.\nThe exporting store was replaced, or the import is false"
                    )
                owner = self.heads[self.exporters[channel]]
                if owner.store != taken.store or export.commit != taken.commit:
                    raise CrossingError(
                        f"{alias} imports {taken.name} of commit {taken.commit} of store "
                        f"{taken.store}, but it was exported by commit {export.commit} of "
                        f"{owner.store}.\nThe exporting store was replaced or restored: ask its "
                        "owner."
                    )
