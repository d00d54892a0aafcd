"""The directory of a federation: the exports and imports in its members' heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from graphquery.errors import StoreError
from graphquery.federation.crossings.head import Exported, Head
from graphquery.federation.crossings.rows import Rows
from graphquery.federation.questions.answer import (
    BEHIND,
    DAMAGED,
    INTERRUPTED,
    OUTSIDE,
    REFUSED,
    TIMEOUT,
    UNABLE,
    UNREACHABLE,
    UNTRUSTED,
    MissingPart,
)
from graphquery.federation.wire.transport import RequestFailure
from graphquery.store.crossing import channel_id

_CAUSES = {
    UNREACHABLE: "cannot be reached",
    TIMEOUT: "did not answer in time",
    INTERRUPTED: "was stopped within its reply",
    REFUSED: "does not disclose this",
    BEHIND: "is older than what was imported from it",
    DAMAGED: "cannot be read",
    OUTSIDE: "was not asked",
    UNTRUSTED: "is not trusted",
    UNABLE: "has no answer to such a question",
}


@dataclass(frozen=True, slots=True)
class Directory:
    """Heads of members, and the reasons that other members have none.

    Parameters
    ----------
    heads
        By alias.
    absent
        By alias, the members without a head.
    identities
        By alias, the identities of stores as far as they are known, heads or not.
    exporters
        By channel, the alias of its exporter.
    importers
        By channel, the aliases of its importers, in member order.
    disputes
        By importer and channel, the reason that the crossing is not followed.
    """

    heads: Mapping[str, Head]
    absent: Mapping[str, RequestFailure]
    identities: Mapping[str, str]
    exporters: Mapping[str, str] = field(default_factory=dict)
    importers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    disputes: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        heads: Mapping[str, Head],
        absent: Mapping[str, RequestFailure],
        expected: Mapping[str, str | None],
    ) -> Directory:
        """Return the directory of the heads that agree with each other.

        A member whose head is refuted is left out as untrusted: it is another store than it is to
        be, claims the identity or the dataset of another, or makes a dataset from itself. Where an
        exporter and an importer contradict each other about one channel, that crossing is disputed,
        and is not followed.

        Parameters
        ----------
        expected
            By alias, the expected identity of a member; None for any.
        """
        identities = {alias: store for alias, store in expected.items() if store is not None}
        refuted = _false_identities(heads, identities)
        refuted |= _false_exports({a: head for a, head in heads.items() if a not in refuted})
        trusted = {alias: head for alias, head in heads.items() if alias not in refuted}
        identities |= {alias: head.store for alias, head in trusted.items()}
        exporters = {channel: a for a, head in trusted.items() for channel in head.exports}
        importers: dict[str, list[str]] = {}
        for alias, head in trusted.items():
            for channel in head.imports:
                importers.setdefault(channel, []).append(alias)
        failures = {alias: RequestFailure(UNTRUSTED, text) for alias, text in refuted.items()}
        return cls(
            trusted,
            {**absent, **failures},
            identities,
            exporters,
            {channel: tuple(each) for channel, each in importers.items()},
            _disputes(trusted, exporters),
        )

    @property
    def versions(self) -> dict[str, int]:
        """The version of each member that has a head."""
        return {alias: head.version for alias, head in self.heads.items()}

    @property
    def made_of(self) -> dict[str, tuple[str, ...]]:
        """By channel that a member exports, the channels behind its rows."""
        heads = self.heads.values()
        return {c: each.channels for head in heads for c, each in head.exports.items()}

    def exported(self, channel: str) -> Exported | None:
        """Return a channel as its exporter's head describes it, or None without that head."""
        alias = self.exporters.get(channel)
        return None if alias is None else self.heads[alias].exports[channel]

    def channel_name(self, channel: str) -> str:
        """Return the name of a channel's dataset, or the channel's id if no head names it."""
        exported = self.exported(channel)
        imports = (head.imports[channel] for head in self.heads.values() if channel in head.imports)
        described = exported or next(imports, None)
        return channel if described is None else described.name

    def explain(self, part: MissingPart) -> str:
        """Return a missing part as a sentence that names the dataset instead of the channel."""
        store = "A store that is not a member" if part.reason == OUTSIDE else part.store
        text = f"{store} {_CAUSES.get(part.reason, part.reason)}"
        if part.channel is None:
            return f"{text}."
        rows = f"{len(part.rows):,} row" + ("" if len(part.rows) == 1 else "s")
        return f"{text}: {rows} of {self.channel_name(part.channel)} could not be followed."

    def may_export(self, alias: str, channel: str) -> bool:
        """Return True if a member exports a channel, or may do so in commits after its head."""
        if channel in self.exporters:
            return self.exporters[channel] == alias
        owners = {
            head.imports[channel].store for head in self.heads.values() if channel in head.imports
        }
        return not owners or self.identities.get(alias) in owners

    def reason(self, importer: str, rows: Rows) -> Iterable[MissingPart]:
        """Yield the reasons that a member's imported rows cannot be followed to their exporters."""
        aliases = {store: alias for alias, store in self.identities.items()}
        for channel, numbers in rows.items():
            taken = self.heads[importer].imports[channel]
            dispute = self.disputes.get((importer, channel))
            if dispute is not None:
                yield MissingPart(self.exporters[channel], UNTRUSTED, channel, numbers, dispute)
                continue
            alias = aliases.get(taken.store)
            unknown = [each for each in self.absent if each not in self.identities]
            if alias is None and unknown:
                # A member of unknown identity may be this store.
                for each in unknown:
                    failure = self.absent[each]
                    yield MissingPart(each, failure.reason, channel, numbers, failure.message)
            elif alias is None:
                message = f"{taken.name} is of a store that is not a member"
                yield MissingPart(taken.store, OUTSIDE, channel, numbers, message)
            elif alias in self.absent:
                failure = self.absent[alias]
                yield MissingPart(alias, failure.reason, channel, numbers, failure.message)
            else:
                message = (
                    f"{alias} is at commit {self.heads[alias].version}, and {taken.name} of commit "
                    f"{taken.commit} was imported from it"
                )
                yield MissingPart(alias, BEHIND, channel, numbers, message)

    def all_absent(self) -> list[MissingPart]:
        """Return every member without a head as missing, since its imports are unknown."""
        return [
            MissingPart(alias, failure.reason, message=failure.message)
            for alias, failure in self.absent.items()
        ]


def _false_identities(heads: Mapping[str, Head], identities: Mapping[str, str]) -> dict[str, str]:
    """Return, by alias, the errors of members that are not the stores they claim to be.

    Of two members with one identity, the one expected to have it is believed, or neither if none
    was expected.
    """
    refuted: dict[str, str] = {}
    owners: dict[str, list[str]] = {}
    for alias, store in identities.items():
        owners.setdefault(store, []).append(alias)
    for alias, head in heads.items():
        expected = identities.get(alias)
        if expected is not None and expected != head.store:
            refuted[alias] = (
                f"{alias} should be the store {expected}, but is {head.store}.\nCorrect the "
                "location, or the identity in the file of the federation; or forget the store that "
                f"was there before: lipstick federation forget FILE {alias}."
            )
    claims: dict[str, list[str]] = {}
    for alias, head in heads.items():
        if alias not in refuted:
            claims.setdefault(head.store, []).append(alias)
    for store, aliases in claims.items():
        for alias, others in _disbelieved(aliases, owners.get(store, [])):
            refuted[alias] = (
                f"{alias} and {others} claim to be one store, {store}.\nOne of them is a copy, or "
                "lies: leave it out, or give both their `store` in the file."
            )
    return refuted


def _false_exports(heads: Mapping[str, Head]) -> dict[str, str]:
    """Return, by alias, the errors of members whose exports cannot be theirs.

    A channel is a hash of its exporter's identity and the dataset, so recomputing it refutes a
    false claim. If the channel was made with a key, which the directory does not know, the exporter
    that importers name is believed.
    """
    refuted: dict[str, str] = {}
    claims: dict[str, list[str]] = {}
    for alias, head in heads.items():
        for channel, export in head.exports.items():
            claims.setdefault(channel, []).append(alias)
            if channel in export.channels:
                refuted[alias] = (
                    f"The head of {alias} derives {export.name} from itself, in a cycle."
                )
    for channel, aliases in claims.items():
        owners = _owners(heads, channel, aliases) if len(aliases) > 1 else aliases
        for alias, others in _disbelieved(aliases, owners):
            refuted[alias] = (
                f"{alias} and {others} both export channel {channel}.\nOne of them is a copy of "
                "the other, or lies: leave it out."
            )
    return refuted


def _disbelieved(claimants: Sequence[str], owners: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the claimants that are not believed, each with its rivals as text.

    A single owner is believed; without one, none of several claimants is.
    """
    everyone = list(dict.fromkeys([*owners, *claimants]))
    for alias in claimants:
        if len(everyone) > 1 and list(owners) != [alias]:
            yield alias, " and ".join(each for each in everyone if each != alias)


def _owners(heads: Mapping[str, Head], channel: str, aliases: Iterable[str]) -> list[str]:
    """Return the claimants of a channel whose claim is confirmed."""
    computed = []
    for alias in aliases:
        export = heads[alias].exports[channel]
        with suppress(StoreError):
            if channel_id(heads[alias].store, export.name, export.version) == channel:
                computed.append(alias)
    named = {head.imports[channel].store for head in heads.values() if channel in head.imports}
    return computed or [alias for alias in aliases if heads[alias].store in named]


def _disputes(
    heads: Mapping[str, Head], exporters: Mapping[str, str]
) -> dict[tuple[str, str], str]:
    """Return, by importer and channel, the contradictions between exporter and importer."""
    disputes: dict[tuple[str, str], str] = {}
    for alias, head in heads.items():
        for channel, taken in head.imports.items():
            if channel not in exporters:
                continue
            owner = heads[exporters[channel]]
            export = owner.exports[channel]
            if taken.count > export.count:
                disputes[alias, channel] = (
                    f"{alias} imports {taken.count} rows of {taken.name}, which has "
                    f"{export.count}.\nThe exporting store was replaced, or the import is false."
                )
            elif owner.store != taken.store or export.commit != taken.commit:
                disputes[alias, channel] = (
                    f"{alias} imports {taken.name} of commit {taken.commit} of store "
                    f"{taken.store}, but it was exported by commit {export.commit} of "
                    f"{owner.store}.\nThe exporting store was replaced or restored: ask its owner."
                )
    return disputes
