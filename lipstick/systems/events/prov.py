"""W3C PROV documents as edges: PROV-JSON, PROV-XML, PROV-N, and PROV-O in RDF formats.

Documents are read whole, statement by statement: they are written for people and tools, not as
streams. Identifiers become URIs by the prefixes in scope, so that documents join; identifiers that
begin with ``_:`` are local to their document.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa

from graphquery.reduction import EdgeType, Partial, ReductionCycleError
from lipstick.systems.events.decoding import (
    Unreadable,
    check_identifier,
    json_values,
    read_bytes,
    unpack,
)
from lipstick.systems.events.errors import MessageError
from lipstick.systems.events.message import DROPPED_TYPES, TYPES
from semiring.base import Semiring

PROV = "http://www.w3.org/ns/prov#"

_DERIVATION = ("wasDerivedFrom", "generatedEntity", "usedEntity")
_RELATIONS = {
    "used": (("used", "activity", "entity"),),
    "wasGeneratedBy": (("wasGeneratedBy", "entity", "activity"),),
    "wasDerivedFrom": (_DERIVATION,),
    "wasRevisionOf": (_DERIVATION,),
    "wasQuotedFrom": (_DERIVATION,),
    "hadPrimarySource": (_DERIVATION,),
    "hadMember": (("hadMember", "collection", "entity"),),
    "hadDictionaryMember": (("hadMember", "dictionary", "entity"),),
    "derivedByInsertionFrom": (
        ("wasDerivedFrom", "newDictionary", "oldDictionary"),
        ("hadMember", "newDictionary", "entity"),
    ),
    "derivedByRemovalFrom": (("wasDerivedFrom", "newDictionary", "oldDictionary"),),
}
"""The edges of a statement: the kind of each, and the attributes that are its effect and cause."""

_DICTIONARIES = frozenset({"hadDictionaryMember", "derivedByInsertionFrom", "derivedByRemovalFrom"})
"""Statements of PROV-Dictionary, which PROV-JSON lacks."""

_XML_ELEMENTS = frozenset(
    {
        *("entity", "activity", "agent", "person", "organization", "softwareAgent", "plan"),
        *("bundle", "collection", "emptyCollection", "dictionary", "emptyDictionary", "other"),
    }
)
"""Elements of PROV-XML that are descriptions, or hold content in other languages."""

_ATTRIBUTES = frozenset(
    {
        *("activity", "agent", "collection", "dictionary", "entity", "generatedEntity"),
        *("generation", "id", "key", "keyEntityPair", "label", "location", "newDictionary"),
        *("oldDictionary", "role", "time", "type", "usage", "usedEntity", "value"),
    }
)
"""Attributes of the supported statements. Misspelled attributes would otherwise be lost."""

_JSON_ELEMENTS = frozenset({"entity", "activity", "agent", "prefix", "bundle"})

_RDF_FORMATS = {".ttl": "turtle", ".trig": "trig", ".jsonld": "json-ld", ".rdf": "xml"}
_BY_PACKAGE = (".provn", *_RDF_FORMATS)
_JSON = (".json", ".jsonl")
_XML = (".xml", ".provx")

SUFFIXES = (*_JSON, *_XML, *_BY_PACKAGE)
"""Suffixes of supported files, each also with ``.gz``; from ``.provn`` on by package prov."""

_MAX_DEPTH = 200
"""Limit on the nesting of XML elements."""

Edge = tuple[str, str, EdgeType]


@dataclass(frozen=True, slots=True)
class Document:
    """The derivation edges of a document.

    Parameters
    ----------
    edges
        Source (effect), destination (cause) and type.
    dropped
        The number of statements with relations that are no part of derivations.
    line
        The line of its file where it begins, from 1.
    """

    edges: tuple[Edge, ...]
    dropped: int
    line: int = 1

    def partial(self, semiring: Semiring[Any] | None = None) -> Partial:
        """Return the edges as a partial graph, labelled 1 if there is a semiring."""
        source, dest, types = zip(*self.edges, strict=True) if self.edges else ((), (), ())
        return Partial.of_edges(
            pa.array(source, pa.string()),
            pa.array(dest, pa.string()),
            np.array(types, dtype=np.int64),
            semiring=semiring,
        )

    def check_acyclic(self) -> None:
        """Raise if the edges have a cycle.

        Raises
        ------
        ReductionCycleError
            Naming the vertices of one, up to ten.
        """
        causes = TopologicalSorter[str]()
        for source, dest, _ in self.edges:
            causes.add(source, dest)
        try:
            causes.prepare()
        except CycleError as error:
            names = ", ".join(error.args[1][:0:-1][:10])
            raise ReductionCycleError(
                f"The edges have a cycle through {names}: nothing can be the cause of itself.\n"
                "Give versions of an entity that is written again identifiers of their own."
            ) from error


def read_documents(path: Path) -> Iterator[Document | Unreadable]:
    """Return the documents of a file; see `documents_in`."""
    try:
        data = read_bytes(path)
    except MessageError as error:
        return iter([Unreadable(1, str(error), "")])
    return documents_in(data, str(path))


def documents_in(data: bytes, name: str) -> Iterator[Document | Unreadable]:
    """Yield the documents in the content of a file, in the format that its suffix names.

    A document that cannot be read is returned as an `Unreadable`, and does not end the file.
    """
    path = PurePath(name)
    suffix = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if suffix not in SUFFIXES:
        reason = (
            f"PROV documents are read from {', '.join(SUFFIXES)}, not {suffix or 'other names'}.\n"
            "Convert it, for example with `prov-convert -f json`."
        )
        yield Unreadable(1, reason, "")
        return
    try:
        if suffix in _JSON:
            found = None
            for found in json_values(data):
                yield found if isinstance(found, Unreadable) else _document(found)
            if found is None and suffix == ".json":
                yield Unreadable(1, "the file is empty", "")
        elif suffix in _XML:
            yield _read_xml(unpack(data))
        else:
            yield _read_by_package(unpack(data), suffix)
    except MessageError as error:
        yield Unreadable(1, str(error), "")


def _document(found: Any) -> Document | Unreadable:
    """Return the document of a JSON value."""
    try:
        return read_json(found.value, found.line, _digest(found.text.encode("utf-8", "replace")))
    except MessageError as error:
        return Unreadable(found.line, str(error), found.text)


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Scope:
    """The prefixes in scope, the default one as ``""``, and the name of the document."""

    prefixes: Mapping[str, str]
    document: str

    def uri(self, name: Any) -> str:
        """Return the URI of a qualified name; for a blank identifier, one local to the document."""
        if isinstance(name, Mapping) and "$" in name:
            name = name["$"]
        if not isinstance(name, str) or not name:
            raise MessageError(f"{str(name)[:80]!r} is not an identifier")
        prefix, colon, local = name.partition(":")
        if prefix == "_" and colon:
            uri = f"_:{self.document}:{local}"
        elif colon and prefix in self.prefixes:
            uri = f"{self.prefixes[prefix]}{local}"
        elif not colon and "" in self.prefixes:
            uri = f"{self.prefixes['']}{name}"
        else:
            uri = name
        return check_identifier(uri)


def read_json(document: Any, line: int = 1, name: str = "") -> Document:
    """Return a document of PROV-JSON (W3C member submission of 24 April 2013).

    Parameters
    ----------
    line
        The line where it begins in its file.
    name
        A name that makes blank identifiers unique.

    Raises
    ------
    MessageError
        When it is none.
    """
    if not isinstance(document, Mapping):
        raise MessageError(f"a PROV-JSON document is an object, not {type(document).__name__}")
    edges: list[Edge] = []
    dropped = 0
    for part, scope in _parts(document, name):
        for relation, statements in part.items():
            if relation in _JSON_ELEMENTS:
                _check_object(relation, statements)
            elif relation in DROPPED_TYPES or relation.startswith(("rec:", "alternate")):
                dropped += len(_check_object(relation, statements))
            elif relation in _RELATIONS and relation not in _DICTIONARIES:
                for record in _records(_check_object(relation, statements), relation):
                    values = {
                        key.removeprefix("prov:"): _several(value)
                        for key, value in record.items()
                        if key.startswith("prov:")
                    }
                    edges += _edges(relation, values, scope.uri)
            else:
                raise MessageError(f"{relation[:80]!r} is not a relation of PROV that is read")
    return Document(tuple(_with_members(edges)), dropped, line)


def _parts(document: Mapping[str, Any], name: str) -> Iterator[tuple[Mapping[str, Any], _Scope]]:
    """Yield the document and its bundles, each with the prefixes in scope."""
    waiting: list[tuple[Mapping[str, Any], Mapping[str, str]]] = [(document, {"prov": PROV})]
    while waiting:
        part, outer = waiting.pop()
        declared = dict(_check_object("prefix", part.get("prefix", {})))
        if not all(isinstance(uri, str) for uri in declared.values()):
            raise MessageError("a prefix stands for a text")
        if "default" in declared:
            declared[""] = declared.pop("default")
        scope = _Scope({**outer, **declared}, name)
        yield part, scope
        bundles = _check_object("bundle", part.get("bundle", {})).values()
        waiting += [(_check_object("bundle", each), scope.prefixes) for each in bundles]


def _check_object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MessageError(f"{name!r} is an object of PROV-JSON, not {type(value).__name__}")
    return value


def _records(statements: Mapping[str, Any], relation: str) -> Iterator[Mapping[str, Any]]:
    """Yield statements; several with one identifier are a list."""
    for statement in statements.values():
        for record in statement if isinstance(statement, list) else [statement]:
            yield _check_object(relation, record)


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _edges(
    relation: str, values: Mapping[str, list[Any]], uri: Any
) -> Iterator[tuple[str, str, EdgeType]]:
    """Yield the edges of a statement, by the values of its attributes."""
    for name in values:
        if name not in _ATTRIBUTES:
            raise MessageError(
                f"a statement {relation} has an attribute {name[:80]!r}, not of PROV"
            )
    for kind, effect, cause in _RELATIONS[relation]:
        # Statements may be without an end: then no derivation leads through them.
        for end in values.get(effect, []):
            for other in values.get(cause, []):
                yield uri(end), uri(other), TYPES[kind]


def _with_members(edges: list[Edge]) -> list[Edge]:
    """Return edges with derivations added from members of a collection to its generator.

    A member with an origin of its own, or used by the generator, existed before.
    """
    generators: dict[str, list[str]] = {}
    used: set[tuple[str, str]] = set()
    left = set()
    for source, dest, kind in edges:
        if kind is EdgeType.GENERATED:
            generators.setdefault(source, []).append(dest)
        if kind is EdgeType.USED:
            used.add((source, dest))
        left.add(source)
    added = [
        (member, activity, EdgeType.GENERATED)
        for collection, member, kind in edges
        if kind is EdgeType.MEMBER and member not in left
        for activity in generators.get(collection, ())
        if (activity, member) not in used
    ]
    return edges + list(dict.fromkeys(added))


class _XmlReader:
    """Reads the statements of PROV-XML as they end, with the prefixes in scope."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._name = _digest(data)
        self._prefixes: dict[str, list[str]] = {}
        self._declared: list[str] = []
        self._path: list[str] = []
        self._values: dict[str, list[str]] = {}
        self.edges: list[Edge] = []
        self.dropped = 0

    def read(self) -> Document:
        source: Any = io.BytesIO(self._data)
        try:
            for event, found in ElementTree.iterparse(
                source, events=("start-ns", "end-ns", "start", "end")
            ):
                if event == "start-ns":
                    prefix, uri = found
                    self._prefixes.setdefault(prefix, []).append(uri)
                    self._declared.append(prefix)
                elif event == "end-ns":
                    self._prefixes[self._declared.pop()].pop()
                elif event == "start":
                    self._start(found)
                else:
                    self._end(found)
        except (ElementTree.ParseError, ValueError, LookupError) as error:
            raise MessageError(f"this is not XML that can be read: {error}") from error
        return Document(tuple(_with_members(self.edges)), self.dropped)

    def _start(self, element: ElementTree.Element) -> None:
        name = element.tag.removeprefix(f"{{{PROV}}}")
        if not self._path and name != "document":
            raise MessageError(f"a PROV-XML document is a prov:document, not {element.tag[:80]}")
        if len(self._path) > _MAX_DEPTH:
            raise MessageError(f"the XML is nested deeper than {_MAX_DEPTH} elements")
        statement = self._statement
        self._path.append(name)
        if statement is None:
            self._values = {}
        elif statement in _RELATIONS:
            reference = element.get(f"{{{PROV}}}ref")
            ends = {end for edge in _RELATIONS[statement] for end in edge[1:]}
            if reference is None and name in ends:
                raise MessageError(f"{name} of a statement {statement} has no prov:ref")
            if element.tag.startswith(f"{{{PROV}}}"):
                values = self._values.setdefault(name, [])
                values += [] if reference is None else [self._uri(reference)]

    def _end(self, element: ElementTree.Element) -> None:
        name = self._path.pop()
        if self._path and self._statement is None and name not in {"bundleContent", "document"}:
            if name in _RELATIONS:
                self.edges += _edges(name, self._values, str)
            elif name in DROPPED_TYPES:
                self.dropped += 1
            elif name not in _XML_ELEMENTS:
                raise MessageError(f"{name[:80]!r} is not a statement of PROV that is read")
        element.clear()

    @property
    def _statement(self) -> str | None:
        """The statement at the current position."""
        return next(
            (each for each in self._path if each not in {"document", "bundleContent"}), None
        )

    def _uri(self, name: str) -> str:
        scope = {prefix: uris[-1] for prefix, uris in self._prefixes.items() if uris}
        return _Scope(scope, self._name).uri(name)


def _read_xml(data: bytes) -> Document:
    """Return a document of PROV-XML: the same statements as elements."""
    return _XmlReader(data).read()


def _check_contexts(data: bytes) -> None:
    """Raise if JSON-LD refers to an external context, which its parser would open, even as a file.

    Raises
    ------
    MessageError
        Naming the context.
    """
    waiting: list[Any] = []
    for found in json_values(data):
        if isinstance(found, Unreadable):
            raise MessageError(found.reason)
        waiting.append(found.value)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            contexts = [*_several(value.get("@context")), *_several(value.get("@import"))]
            for context in contexts:
                if isinstance(context, str):
                    raise MessageError(
                        f"the context {context[:200]!r} is elsewhere, and nothing is fetched.\n"
                        "Put the context into the document."
                    )
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _read_by_package(data: bytes, suffix: str) -> Document:
    """Return a document of PROV-N, or of PROV-O in an RDF format, read by the package prov.

    Raises
    ------
    MessageError
        The package, or its RDF support, is not installed, or cannot read the data.
    """
    needs = f"{suffix} needs the package prov{' with RDF' if suffix in _RDF_FORMATS else ''}.\n"
    needs += "Install lipstick-spark[exchange]."
    try:
        from prov.model import ProvDocument
    except ImportError as error:
        raise MessageError(needs) from error
    if suffix == ".jsonld":
        _check_contexts(data)
    options = {"format": "provn"}
    if suffix in _RDF_FORMATS:
        options = {"format": "rdf", "rdf_format": _RDF_FORMATS[suffix]}
    try:
        with warnings.catch_warnings():
            # It warns of names that a later release will refuse; none are ends of our edges.
            warnings.simplefilter("ignore")
            document = ProvDocument.deserialize(content=data.decode("utf-8-sig"), **options)
            converted = json.loads(str(document.serialize(format="json")))
    except UnicodeDecodeError as error:
        raise MessageError(f"this is not UTF-8: {error.reason}, byte {error.start}") from error
    except Exception as error:  # whatever its parsers raise
        if isinstance(error, ImportError) or '"rdf" extra' in str(error):
            raise MessageError(needs) from error
        raise MessageError(f"the package prov cannot read this {suffix}: {error}") from error
    return read_json(converted, name=_digest(data))
