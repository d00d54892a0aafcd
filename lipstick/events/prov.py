"""W3C PROV documents as edges: PROV-JSON, alone or a document a line, PROV-XML, PROV-N, PROV-O.

Documents are read whole, statement by statement: they are written for people and tools, not as
streams. Identifiers become URIs by the prefixes of their document, so that documents join.
"""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa

from graphquery.reduction import EdgeType, Partial, Reducer
from lipstick.events.errors import MessageError
from lipstick.events.message import DROPPED_TYPES, TYPES
from semiring.base import Semiring

PROV = "http://www.w3.org/ns/prov#"

_ENDS = {
    "used": ("activity", "entity"),
    "wasGeneratedBy": ("entity", "activity"),
    "wasDerivedFrom": ("generatedEntity", "usedEntity"),
    "hadMember": ("collection", "entity"),
}
"""The attributes of a relation that are its effect and its cause."""

_ELEMENTS = frozenset({"entity", "activity", "agent", "prefix", "bundle"})

SUFFIXES = (".json", ".jsonl", ".xml", ".provx", ".provn", ".ttl", ".trig")
"""Of the files that are read; the last three by the package prov."""

_BY_PACKAGE = {".provn": "provn", ".ttl": "rdf", ".trig": "rdf"}
_RDF_FORMATS = {".ttl": "turtle", ".trig": "trig"}


@dataclass(frozen=True, slots=True)
class Document:
    """The derivation edges of a document.

    Parameters
    ----------
    edges
        Source (effect), destination (cause) and type.
    dropped
        How many statements are of relations that no derivation leads through.
    """

    edges: tuple[tuple[str, str, EdgeType], ...]
    dropped: int

    def partial(self, semiring: Semiring[Any] | None = None) -> Partial:
        """The edges as a partial graph, labelled 1 in a semiring if there is one."""
        source, dest, types = zip(*self.edges, strict=True) if self.edges else ((), (), ())
        return Partial.of_edges(
            pa.array(source, pa.string()),
            pa.array(dest, pa.string()),
            np.array(types, dtype=np.int64),
            semiring=semiring,
        )

    def check_acyclic(self) -> None:
        """Raise where the edges have a cycle.

        Raises
        ------
        CycleError
            Naming vertices of it.
        """
        alone = Reducer()
        alone.add(self.partial())
        alone.seal()


def read_documents(path: Path) -> Iterator[Document]:
    """The documents in a file, by its suffix.

    Raises
    ------
    MessageError
        When it is of no form that is read, or not as that form is.
    """
    return documents_in(path.read_bytes(), str(path))


def documents_in(data: bytes, name: str) -> Iterator[Document]:
    """The documents in what a file of some name has; see `read_documents`."""
    suffix = PurePath(name).suffix
    if suffix not in SUFFIXES:
        raise MessageError(
            f"{name}: PROV documents are read from {', '.join(SUFFIXES)}, not {suffix}.\n"
            "Convert it, for example with `prov-convert -f json`."
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise MessageError(f"{name}: this is no UTF-8: {error}.") from error
    try:
        if suffix == ".jsonl":
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip():
                    yield _numbered(line, number)
        elif suffix == ".json":
            yield read_json(json.loads(text))
        elif suffix in _BY_PACKAGE:
            yield _read_by_package(text, suffix)
        else:
            yield _read_xml(text)
    except json.JSONDecodeError as error:
        raise MessageError(f"{name}: this is no JSON: {error}.") from error
    except MessageError as error:
        raise MessageError(f"{name}: {error}") from error


def _numbered(line: str, number: int) -> Document:
    try:
        return read_json(json.loads(line))
    except (json.JSONDecodeError, MessageError) as error:
        raise MessageError(f"line {number}: {error}") from error


def read_json(document: Any) -> Document:
    """A document of PROV-JSON (W3C member submission of 24 April 2013).

    Raises
    ------
    MessageError
        When it is none.
    """
    if not isinstance(document, Mapping):
        raise MessageError(f"a PROV-JSON document is an object, not {type(document).__name__}")
    edges: list[tuple[str, str, EdgeType]] = []
    dropped = 0
    for part, prefixes in _parts(document, {"prov": PROV}):
        for relation, statements in part.items():
            if relation in _ELEMENTS:
                _check_object(relation, statements)
            elif relation in DROPPED_TYPES or relation.startswith(("rec:", "alternate")):
                dropped += len(_check_object(relation, statements))
            elif relation in _ENDS:
                records = _records(_check_object(relation, statements), relation)
                edges += _edges(relation, records, prefixes)
            else:
                raise MessageError(f"{relation!r} is no relation of PROV")
    return Document(tuple(_with_members(edges)), dropped)


def _parts(
    document: Mapping[str, Any], outer: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, str]]]:
    """The document and its bundles, each with the prefixes that hold in it."""
    prefixes = {**outer, **_check_object("prefix", document.get("prefix", {}))}
    yield document, prefixes
    for bundle in _check_object("bundle", document.get("bundle", {})).values():
        yield from _parts(_check_object("bundle", bundle), prefixes)


def _check_object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise MessageError(f"{name!r} is an object of PROV-JSON, not {type(value).__name__}")
    return value


def _records(statements: Mapping[str, Any], relation: str) -> Iterator[Mapping[str, Any]]:
    """Statements; several of one identifier are a list."""
    for statement in statements.values():
        for record in statement if isinstance(statement, list) else [statement]:
            yield _check_object(relation, record)


def _edges(
    relation: str, records: Iterable[Mapping[str, Any]], prefixes: Mapping[str, str]
) -> Iterator[tuple[str, str, EdgeType]]:
    effect, cause = _ENDS[relation]
    for record in records:
        source, dest = record.get(f"prov:{effect}"), record.get(f"prov:{cause}")
        # PROV lets a usage be without its entity, and a generation without its activity.
        for end in _several(source):
            for other in _several(dest):
                yield _uri(end, prefixes), _uri(other, prefixes), TYPES[relation]


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _uri(name: Any, prefixes: Mapping[str, str]) -> str:
    if isinstance(name, Mapping) and "$" in name:
        name = name["$"]
    if not isinstance(name, str) or not name:
        raise MessageError(f"{name!r} is no identifier")
    prefix, colon, local = name.partition(":")
    if colon and prefix in prefixes:
        return f"{prefixes[prefix]}{local}"
    if not colon and "default" in prefixes:
        return f"{prefixes['default']}{name}"
    return name


def _with_members(
    edges: list[tuple[str, str, EdgeType]],
) -> list[tuple[str, str, EdgeType]]:
    """Edges with those from members of a generated collection to what generated it.

    A member that has an origin of its own, or that the generator used, was there before.
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


def _read_xml(text: str) -> Document:
    """A document of PROV-XML: the same statements as elements."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise MessageError(f"this is no XML: {error}") from error
    if root.tag != f"{{{PROV}}}document":
        raise MessageError(f"a PROV-XML document is a prov:document, not {root.tag}")
    prefixes = _declared_prefixes(text)
    edges: list[tuple[str, str, EdgeType]] = []
    dropped = 0
    for element in root.iter():
        relation = element.tag.removeprefix(f"{{{PROV}}}")
        if relation in DROPPED_TYPES:
            dropped += 1
        if relation not in _ENDS:
            continue
        record: dict[str, list[str]] = {}
        for child in element:
            reference = child.get(f"{{{PROV}}}ref")
            if reference is not None:
                name = f"prov:{child.tag.removeprefix(f'{{{PROV}}}')}"
                record.setdefault(name, []).append(reference)
        edges += _edges(relation, [record], prefixes)
    return Document(tuple(_with_members(edges)), dropped)


def _declared_prefixes(text: str) -> dict[str, str]:
    events = ElementTree.iterparse(io.StringIO(text), events=["start-ns"])
    # An inner declaration of a prefix is for all, as converters write them at the top.
    return {prefix or "default": uri for _, (prefix, uri) in events}


def _read_by_package(text: str, suffix: str) -> Document:
    """A document of PROV-N, or of PROV-O in Turtle or TriG, by the package prov.

    Raises
    ------
    MessageError
        When the package, or what it needs for RDF, is not installed, or cannot read the text.
    """
    try:
        from prov.model import ProvDocument
    except ImportError as error:
        raise MessageError(
            f"{suffix} needs the package prov.\nInstall lipstick-spark[exchange]."
        ) from error
    form = _BY_PACKAGE[suffix]
    options = {"rdf_format": _RDF_FORMATS[suffix]} if form == "rdf" else {}
    try:
        with warnings.catch_warnings():
            # It warns of names that a later release will refuse; none are ends of our edges.
            warnings.simplefilter("ignore")
            document = ProvDocument.deserialize(content=text, format=form, **options)
            converted = json.loads(str(document.serialize(format="json")))
    except ImportError as error:
        raise MessageError(f"{suffix} needs more than is installed: {error}") from error
    except Exception as error:  # whatever its parsers raise
        raise MessageError(f"the package prov cannot read this {form}: {error}") from error
    return read_json(converted)
