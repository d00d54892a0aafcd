"""PROV documents: relations of every kind, scopes of prefixes, encodings, refusals one by one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from lipstick.systems.events import Outcome, Settings, reduce_files
from lipstick.systems.events.dead_letters import read_letters
from lipstick.systems.events.decoding import Unreadable
from lipstick.systems.events.prov import documents_in
from tests.lipstick.systems.events.reduced import edges_in

XML = (
    '<prov:document xmlns:prov="http://www.w3.org/ns/prov#" xmlns:ex="http://one/">'
    "{}</prov:document>"
)
DERIVED = (
    '<prov:{0}><prov:generatedEntity prov:ref="ex:b"/><prov:usedEntity prov:ref="ex:a"/></prov:{0}>'
)


def edges_of(data: bytes | str, name: str) -> list[tuple[str, str]]:
    found = []
    for each in documents_in(data.encode() if isinstance(data, str) else data, name):
        assert not isinstance(each, Unreadable), each
        found += [(source, dest) for source, dest, _ in each.edges]
    return found


def refused(data: bytes | str, name: str) -> Unreadable:
    (found,) = documents_in(data.encode() if isinstance(data, str) else data, name)
    assert isinstance(found, Unreadable)
    return found


def reduced(folder: Path, **files: bytes | str) -> Outcome:
    (folder / "in").mkdir()
    for name, data in files.items():
        file = folder / "in" / name.replace("_", ".")
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    return reduce_files([folder / "in"], folder / "store", Settings(format="prov"))


def derivation(effect: str, cause: str) -> dict[str, Any]:
    ends = {"prov:generatedEntity": effect, "prov:usedEntity": cause}
    return {"wasDerivedFrom": {"_:1": ends}}


DERIVATIONS = ["wasDerivedFrom", "wasRevisionOf", "wasQuotedFrom", "hadPrimarySource"]


@pytest.mark.parametrize("relation", DERIVATIONS)
def test_every_kind_of_derivation_is_an_edge(relation: str) -> None:
    text = XML.format(DERIVED.format(relation))
    assert edges_of(text, "a.xml") == [("http://one/b", "http://one/a")]
    document = {"prefix": {"ex": "http://one/"}, relation: {"_:1": {
        "prov:generatedEntity": "ex:b", "prov:usedEntity": "ex:a"}}}  # fmt: skip
    assert edges_of(json.dumps(document), "a.json") == [("http://one/b", "http://one/a")]


def test_dictionaries_of_xml_have_members_and_origins() -> None:
    pair = "<prov:keyEntityPair><prov:key>k</prov:key><prov:entity prov:ref='ex:{}'/>" \
           "</prov:keyEntityPair>"  # fmt: skip
    text = XML.format(
        "<prov:dictionary prov:id='ex:d'/>"
        "<prov:hadDictionaryMember><prov:dictionary prov:ref='ex:d'/>"
        f"{pair.format('m')}</prov:hadDictionaryMember>"
        "<prov:derivedByInsertionFrom><prov:newDictionary prov:ref='ex:e'/>"
        f"<prov:oldDictionary prov:ref='ex:d'/>{pair.format('n')}</prov:derivedByInsertionFrom>"
    ).replace("'", '"')
    assert sorted(edges_of(text, "a.xml")) == [
        ("http://one/d", "http://one/m"),
        ("http://one/e", "http://one/d"),
        ("http://one/e", "http://one/n"),
    ]


def test_a_statement_that_is_not_read_is_named() -> None:
    text = XML.format('<prov:wasMadeOf><prov:entity prov:ref="ex:a"/></prov:wasMadeOf>')
    assert "'wasMadeOf' is not a statement of PROV" in refused(text, "a.xml").reason
    assert "'wasMadeOf' is not a relation" in refused('{"wasMadeOf": {}}', "a.json").reason
    misspelled = {"wasDerivedFrom": {"_:1": {"prov:generatedEntity": "a", "prov:usedEntty": "b"}}}
    assert "an attribute 'usedEntty'" in refused(json.dumps(misspelled), "a.json").reason
    assert "has no prov:ref" in refused(
        XML.format("<prov:used><prov:activity/></prov:used>"), "a.xml"
    ).reason  # fmt: skip


def test_prefixes_hold_where_they_are_declared() -> None:
    inner = '<prov:entity prov:id="ex:a"><ex:n xmlns:ex="http://other/">x</ex:n></prov:entity>'
    own = DERIVED.format("wasDerivedFrom").replace(
        "<prov:wasDerivedFrom>", '<prov:wasDerivedFrom xmlns:ex="http://two/">'
    )
    text = XML.format(inner + DERIVED.format("wasDerivedFrom") + own)
    assert edges_of(text, "a.xml") == [
        ("http://one/b", "http://one/a"),
        ("http://two/b", "http://two/a"),
    ]
    bundle = {"prefix": {"ex": "http://two/"}} | derivation("ex:b", "other:a")
    prefixes = {"ex": "http://one/", "other": "http://three/"}
    document = {"prefix": prefixes, "bundle": {"ex:c": bundle}} | derivation("ex:b", "ex:a")
    assert sorted(edges_of(json.dumps(document), "a.json")) == [
        ("http://one/b", "http://one/a"),
        ("http://two/b", "http://three/a"),
    ]


def test_blank_identifiers_are_of_their_document(tmp_path: Path) -> None:
    lines = [derivation("_:n", "a"), derivation("c", "_:n"), derivation("_:n", "a")]
    outcome = reduced(tmp_path, d_jsonl="\n".join(map(json.dumps, lines)))
    assert outcome.exact
    edges = edges_in(tmp_path / "store")
    assert len(edges) == 2  # the third is the first again
    assert ("c", "a") not in edges
    (blank,) = [effect for effect, cause in edges if cause == "a"]
    assert ("c", blank) not in edges


def test_a_bad_line_takes_no_other(tmp_path: Path) -> None:
    good = json.dumps(derivation("b", "a")), json.dumps(derivation("d", "c"))
    cycle = {"wasDerivedFrom": {"_:1": {"prov:generatedEntity": "e", "prov:usedEntity": "e"}}}
    lines = [good[0], "{bad", json.dumps(cycle), '{"used": 1}', good[1]]
    assert not reduced(tmp_path, d_jsonl="\n".join(lines)).exact
    assert sorted(edges_in(tmp_path / "store")) == [("b", "a"), ("d", "c")]
    letters = read_letters(tmp_path / "store.dead.jsonl")
    assert [each.line for each in letters] == [2, 3, 4]
    assert letters[0].text == "{bad"
    assert letters[1].reason.startswith("The edges have a cycle through e")


def test_lines_end_where_json_lines_end(tmp_path: Path) -> None:
    document = {"entity": {"a": {"prov:label": "x\u0085y\u2028z"}}} | derivation("b", "a")
    assert reduced(tmp_path, d_jsonl=json.dumps(document, ensure_ascii=False)).exact
    assert edges_in(tmp_path / "store") == [("b", "a")]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-le"])
def test_json_is_read_in_its_encodings_and_packed(encoding: str) -> None:
    data = json.dumps(derivation("ü", "a"), indent=2).encode(encoding)
    assert edges_of(data, "a.json") == edges_of(gzip.compress(data), "a.json.gz") == [("ü", "a")]


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-8"])
def test_xml_is_read_in_the_encoding_it_declares(encoding: str) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>'
    text += XML.format(DERIVED.format("wasDerivedFrom").replace("ex:b", "ex:bü"))
    assert edges_of(text.encode(encoding), "a.xml") == [("http://one/bü", "http://one/a")]


REFUSED = {
    "deep": (b"[" * 100_000 + b"]" * 100_000, "nested too deeply"),
    "surrogate": (json.dumps(derivation("\ud800", "a")).encode(), "a surrogate stands alone"),
    "digits": (b'{"entity": {"a": {"x": ' + b"9" * 5_000 + b"}}}", "4300"),
    "long": (json.dumps(derivation("x" * 70_000, "a")).encode(), "has 70,000 bytes"),
    "twice": (b'{"used": {}, "used": {}}', "the name 'used' twice"),
    "empty": (b" ", "the file is empty"),
    "no text": (b"\xff\xff", "this is not UTF-8"),
    "cut": (gzip.compress(b"{}")[:-4], "gzip file is damaged"),
    "prefix": (b'{"prefix": {"a": 1}}', "a prefix stands for a text"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(name: str) -> None:
    data, reason = REFUSED[name]
    found = refused(data, "a.json")
    assert reason in found.reason
    assert found.line == 1


@pytest.mark.parametrize(
    "context", ['"http://localhost/c"', '[{}, "file:///etc/passwd"]', '{"@import": "c"}']
)
def test_contexts_elsewhere_are_not_opened(context: str) -> None:
    for text in ('{"@context": %s}', '[{"@graph": [{"@context": %s}]}]'):
        found = refused(text % context, "a.jsonld")
        assert "is elsewhere, and nothing is fetched" in found.reason or "package" in found.reason


def test_rdf_says_what_it_needs_or_is_read() -> None:
    text = "@prefix prov: <http://www.w3.org/ns/prov#> .\n@prefix e: <http://e/> .\n"
    text += "e:b prov:wasDerivedFrom e:a ."
    (found,) = documents_in(text.encode(), "a.ttl")
    if isinstance(found, Unreadable):
        assert "Install lipstick-spark[exchange]" in found.reason
    else:
        assert [edge[:2] for edge in found.edges] == [("http://e/b", "http://e/a")]
