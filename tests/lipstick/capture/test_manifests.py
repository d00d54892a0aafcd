"""Manifests, versions of tables and commits of stores that something else wrote and sealed.

Each is opened with the same answers, or refused by an error of ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lipstick
from graphquery.store import Store
from graphquery.store import documents as sealed_commit
from lipstick.capture.documents import seal, unseal
from lipstick.errors import CaptureDamagedError, LipstickError
from lipstick.tables.derivation import read_version
from tests.graphquery.dealership import dealership
from tests.lipstick.stored import store_graph
from tests.mutated_documents import deep, mutated


def hold(
    file: Path,
    write: Callable[[Any], bytes],
    document: Any,
    ask: Callable[[], Any],
    every: int,
    *,
    others: bool = False,
) -> int:
    """Ask the same after each change of a document; return how many were refused.

    With ``others`` a change may make a document that says something else.
    """
    whole, expected, refused = file.read_bytes(), ask(), 0
    try:
        for what, changed in mutated(document, every):
            file.write_bytes(write(changed))
            try:
                answer = ask()
                assert others or answer == expected, what
            except LipstickError:
                refused += 1
            except Exception as error:
                raise AssertionError(f"{what}: {error!r}") from error
    finally:
        file.write_bytes(whole)
    return refused


@pytest.fixture
def captured(dealer: lipstick.Session, tmp_path: Path) -> Path:
    """A capture over a written table, with it in a bundle."""
    written = dealer.sql("SELECT Model, count(*) AS n FROM Cars GROUP BY Model").write
    written.parquet(tmp_path / "tot", name="tot")
    q = dealer.sql(
        """SELECT c.Model, t.n, sum(c.Price) AS s FROM Cars c LEFT JOIN tot t ON c.Model = t.Model
        WHERE c.CarId NOT IN (SELECT BidId FROM Requests)
        GROUP BY c.Model, t.n ORDER BY s LIMIT 5"""
    )
    return q.save(tmp_path / "capture", bundle=True).directory


@pytest.mark.slow_over_connect
def test_mutated_manifests(captured: Path) -> None:
    """Each field deleted, of each wrong type, deep, huge or there twice."""

    def ask() -> str:
        capture = lipstick.open(captured)
        # Rows that are computed anew may come in another order than those that were read.
        lineage = {name: sorted(map(str, t.to_pylist())) for name, t in capture.lineage().items()}
        changes = capture.what_if_many(lipstick.each("Cars")).changes.to_pylist()
        return str([capture.df.to_pylist(), str(capture.polynomials()), lineage, changes])

    manifest = captured / "manifest.json"
    document = unseal(manifest, manifest.read_bytes(), "capture", 2).content
    assert hold(manifest, lambda d: seal("capture", 2, d), document, ask, every=13) > 100
    [version] = captured.glob("upstream/*/v000001.json")
    document = unseal(version, version.read_bytes(), "derivation", 2).content

    def read() -> Any:
        derivation = read_version(version)
        derivation.check()
        return [str(derivation.rows(part)) for part in derivation.parts]

    assert hold(version, lambda d: seal("derivation", 2, d), document, read, every=1) > 150


WRONG: list[tuple[Callable[[Any], Any], str]] = [
    (lambda d: d.update(blocks=[]), "it has no blocks"),
    (lambda d: d["blocks"].append(d["blocks"][-1]), "occurs twice"),
    (lambda d: d.update(query=5), "it.query is 5, not of type str"),
    (lambda d: d.update(relations={}), "Cars|Requests|tot"),
    (lambda d: d.update(query=deep(300)), "it nests deeper than 200"),
    (lambda d: d["files"].append(d["files"][0]), "a file is described twice"),
    (lambda d: d["blocks"][0].pop("keys"), r"blocks\[0\] has no 'keys'"),
]


@pytest.mark.classic
def test_what_is_wrong_is_told(captured: Path) -> None:
    manifest = captured / "manifest.json"
    sealed = manifest.read_bytes()
    for change, problem in WRONG:
        document = unseal(manifest, sealed, "capture", 2).content
        change(document)
        manifest.write_bytes(seal("capture", 2, document))
        with pytest.raises(CaptureDamagedError, match=f"(?s)cannot be understood.*({problem})"):
            lipstick.open(captured)


@pytest.mark.parametrize(
    ("body", "version"),
    [
        (b"{", 2),
        (b"[" * 100_000, 2),
        (b'{"query": ' + b"9" * 6_000 + b"}", 2),
        (b'{"query": "a", "query": "b"}', 2),
        (b"NaN", 2),
        (b"\xff", 2),
        (b"{}", 0),
        (b"{}", 1),
    ],
)
def test_bodies_that_are_no_document(tmp_path: Path, body: bytes, version: int) -> None:
    """The seal says that nothing was changed since, not who wrote it."""
    import hashlib

    checksum = hashlib.sha256(f"capture {version}\n".encode() + body).hexdigest()
    head = f'{{"format": "lipstick capture", "version": {version}, "sha256": "{checksum}",'
    path = tmp_path / "manifest.json"
    path.write_bytes(head.encode() + b'\n"content": ' + body + b"}\n")
    with pytest.raises(CaptureDamagedError, match=r"cannot be understood|is not what was"):
        lipstick.open(tmp_path)
    for unsealed in (body, json.dumps({"format": 0, "query": "a"}).encode()):
        path.write_bytes(unsealed)
        with pytest.raises(CaptureDamagedError):
            lipstick.open(tmp_path)


def test_mutated_commits(tmp_path: Path) -> None:
    """Of a store. What is empty is left out of a commit, so that one with less may be sound."""
    root = store_graph(dealership(), tmp_path / "store")
    file = sorted((root / "log").glob("*.json"))[-1]

    def ask() -> str:
        snapshot = Store.open(root).snapshot()
        return str([sorted(snapshot.records), *snapshot.segments, *snapshot.edges])

    document, _ = sealed_commit.unseal(file, "it")
    assert hold(file, lambda d: sealed_commit.seal(d)[0], document, ask, 5, others=True) > 20
    file = root / "format.json"
    stored = json.loads(file.read_bytes())
    assert hold(file, lambda d: json.dumps(d).encode(), stored, ask, every=1) > 20
