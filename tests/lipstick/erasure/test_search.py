"""Erased values are found wherever they were planted, and what cannot be searched is named."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
import re
import zlib
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from lipstick.cli import main
from lipstick.erasure.holders import check_holder
from lipstick.erasure.patterns import PatternSet
from lipstick.erasure.receipt import ErasureReceipt, keyed_hash, read_key
from lipstick.erasure.search import Finding, SearchResult, Unsearched, search_folders
from lipstick.erasure.value_search import ErasedValues, ValueSearch
from lipstick.erasure.verification import _described, _Mask, _Place, verdict_of
from semiring.errors import LipstickError

EMAIL = "zoë@example.org"
SEARCH = ValueSearch(
    [
        ErasedValues("people", "email", (EMAIL,)),
        ErasedValues("people", "id", (17, 4_000_017)),
        ErasedValues("people", "nick", ("zo",)),
        ErasedValues("people", "address.born", ("1980-02-29",), in_column=True),
        ErasedValues("people", "seen", ("2024-05-06 07:08:09.500000",), in_column=True),
        ErasedValues("people", "address.floor", (41,)),
    ]
)


def _parquet(path: Path, **columns: object) -> None:
    pq.write_table(pa.table(columns), path)


def _avro(path: Path, codec: str) -> None:
    """Write a container file of Avro with one block."""

    def length(number: int) -> bytes:
        return bytes([number << 1])

    block = b"\x08" + EMAIL[:16].encode()
    block = zlib.compress(block)[2:-4] if codec == "deflate" else block
    key, value = b"avro.codec", codec.encode()
    header = length(1) + length(len(key)) + key + length(len(value)) + value + b"\0"
    path.write_bytes(b"Obj\x01" + header + bytes(16) + length(1) + length(len(block)) + block)


PLANTED: dict[str, Callable[[Path], object]] = {
    "a cell": lambda p: _parquet(p / "f.parquet", anything=["x", EMAIL]),
    "a part of a text, in capitals": lambda p: _parquet(p / "f", note=[f"to {EMAIL.upper()}!"]),
    "a nested value": lambda p: _parquet(p / "f", n=[[{"a": {"b": EMAIL}}], None]),
    "a key of a map": lambda p: _parquet(
        p / "f", m=pa.array([[(EMAIL, 1)]], pa.map_(pa.string(), pa.int32()))
    ),
    "a dictionary": lambda p: _parquet(p / "f", d=pa.array([EMAIL]).dictionary_encode()),
    "bytes": lambda p: _parquet(p / "f", b=[f"<{EMAIL}>".encode()]),
    "a small number in a column of its name": lambda p: _parquet(p / "f", ID=[3, 17]),
    "a small number in a column of a capture": lambda p: _parquet(p / "f", id_2=[17]),
    "a small number as a text": lambda p: _parquet(p / "f", id=["17"]),
    "a number in a float": lambda p: _parquet(p / "f", id=[0.5, 17.0, None]),
    "a number in a decimal": lambda p: _parquet(
        p / "f", id=pa.array([1, 17], pa.decimal128(9, 0)).cast(pa.decimal128(12, 2))
    ),
    "a number in statistics of a checkpoint": lambda p: _parquet(
        p / "f", stats=[json.dumps({"minValues": {"id": 17}})]
    ),
    "a value that a dictionary has and no row": lambda p: _parquet(
        p / "f", d=pa.DictionaryArray.from_arrays(pa.array([1]), [EMAIL, "x"])
    ),
    "metadata of a file": lambda p: pq.write_table(
        pa.table({"n": [1]}).replace_schema_metadata({"made by": EMAIL}), p / "f"
    ),
    "a date": lambda p: _parquet(p / "f", born=[date(1980, 2, 29)]),
    "a date in a field": lambda p: _parquet(p / "f", a=[{"born": date(1980, 2, 29)}]),
    "a date as a text": lambda p: _parquet(p / "f", born=["1980-02-29"]),
    "a date in CSV": lambda p: (p / "f.csv").write_text("id,born\n9,1980-02-29\n"),
    "a date in statistics": lambda p: (p / "f.crc").write_text(
        json.dumps({"add": {"stats": json.dumps({"minValues": {"born": "1980-02-29"}})}})
    ),
    "a date in a partition": lambda p: _partition(p, "born=1980-02-29"),
    "a time": lambda p: _parquet(p / "f", seen=[datetime(2024, 5, 6, 7, 8, 9, 500_000)]),
    "a time of a zone": lambda p: _parquet(
        p / "f",
        seen=pa.array([datetime(2024, 5, 6, 7, 8, 9, 500_000)], pa.timestamp("ns", "UTC")).cast(
            pa.timestamp("ns", "Asia/Tokyo")
        ),
    ),
    "a time in statistics": lambda p: (p / "f.json").write_text(
        '{"seen": "2024-05-06T07:08:09.500Z"}'
    ),
    "a small number in a field of its name": lambda p: _parquet(p / "f", x=[{"floor": 41}]),
    "a large number in any column": lambda p: _parquet(p / "f", other=[4_000_017]),
    "a large number in a text": lambda p: (p / "f.log").write_text("row 4000017 was read"),
    "a short text as a whole cell": lambda p: _parquet(p / "f", who=["Zo"]),
    "ORC": lambda p: pa.orc.write_table(pa.table({"e": [EMAIL]}), p / "f.orc"),
    "CSV with a small number": lambda p: (p / "f.csv").write_text("id,n\n17,1\n"),
    "JSON with escapes": lambda p: (p / "f.json").write_text(json.dumps({"e": EMAIL})),
    "lines of JSON with a number": lambda p: (p / "f.jsonl").write_text('{"id": 17}\n'),
    "a number in statistics": lambda p: (p / "f.crc").write_text(
        json.dumps({"add": {"stats": json.dumps({"minValues": {"id": 17}})}})
    ),
    "a log": lambda p: (p / "f.log").write_text(f"deleted {EMAIL}\n"),
    "a compressed log": lambda p: (p / "f.log.gz").write_bytes(gzip.compress(EMAIL.encode())),
    "statistics cut short": lambda p: _avro_in(p, "null"),
    "compressed statistics": lambda p: _avro_in(p, "deflate"),
    "a partition": lambda p: _partition(p, "id=17"),
    "a partition of a text": lambda p: _partition(p, "email=zo%C3%AB%40example.org"),
}


def _avro_in(folder: Path, codec: str) -> None:
    (folder / "metadata").mkdir()
    _avro(folder / "metadata" / "m0.avro", codec)


def _partition(folder: Path, name: str) -> None:
    (folder / name).mkdir()
    _parquet(folder / name / "f", n=[1])


@pytest.mark.parametrize("planted", PLANTED)
def test_what_was_planted_is_found(tmp_path: Path, planted: str) -> None:
    _parquet(
        tmp_path / "others",
        id=[1, 2],
        email=["a@example.org", None],
        n=[17, 41],
        hired=[date(1980, 2, 29), None],
        born=[date(1980, 3, 1), None],
        seen=[datetime(2024, 5, 6, 7, 8, 9), None],
    )
    assert search_folders(SEARCH, [str(tmp_path)]).findings == ()
    (tmp_path / "stats.json").write_text('[{"id":170,"n":17,"stats":"{\\"id\\":217}"}]')
    assert search_folders(SEARCH, [str(tmp_path)]).findings == ()
    PLANTED[planted](tmp_path)
    found = search_folders(SEARCH, [str(tmp_path)])
    assert found.findings
    assert not found.unsearched


def test_what_cannot_be_searched_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.zip").write_bytes(b"PK\x03\x04\xff\xfe\0")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1....")
    _avro(tmp_path / "f.avro", "snappy")
    roots = [str(tmp_path), "s3://bucket/lake", str(tmp_path / "gone")]
    found: SearchResult = search_folders(SEARCH, roots)
    reasons = {Path(each.path).name: each.reason for each in found.unsearched}
    assert reasons.keys() == {"f.zip", "torn.parquet", "f.avro", "lake", "gone"}
    assert "searched as they are" in reasons["f.zip"]
    assert "snappy" in reasons["f.avro"]
    assert reasons["lake"] == "it is on no local disk"


def test_what_a_budget_leaves_out_is_named(tmp_path: Path) -> None:
    _parquet(tmp_path / "f", email=[EMAIL])
    found = search_folders(SEARCH, [str(tmp_path)], budget=-1)
    assert (found.findings, found.files, found.bytes) == ((), 0, 0)
    size = (tmp_path / "f").stat().st_size
    (left,) = found.unsearched
    assert left == Unsearched(
        str(tmp_path), f"1 files with {size:,} bytes: the budget of -1 s ended"
    )


def test_patterns_are_found_wherever_they_occur() -> None:
    random = Random(7)
    for _ in range(200):
        data = bytes(random.choices(b"ab", k=random.randrange(300)))
        drawn = (bytes(random.choices(b"ab", k=random.randrange(5, 20))) for _ in range(30))
        patterns = list(dict.fromkeys(drawn))
        numbers, places = PatternSet(patterns).places(np.frombuffer(data, np.uint8))
        found = sorted(zip(numbers.tolist(), places.tolist(), strict=True))
        assert found == [
            (number, place)
            for number, pattern in enumerate(patterns)
            for place in range(len(data))
            if data.startswith(pattern, place)
        ]


def test_cells_with_values_are_counted_as_one_by_one() -> None:
    random = Random(11)
    texts = [f"{random.choice('Äaß')}user{n}@example.org" for n in range(40)]
    numbers = [random.randrange(-150_000, 150_000) for _ in range(40)]
    search = ValueSearch(
        [ErasedValues("t", "e", tuple(texts[:5])), ErasedValues("t", "n", tuple(numbers[:20]))]
    )
    cells = [
        random.choice("x7 _,") + random.choice([*texts, *map(str, numbers)]) for _ in range(500)
    ]
    cells += [text.upper() for text in texts] + ["", "ab"]
    found = {each.column: count for each, count in search.column("c", pa.array([None, *cells]))}
    large = "|".join(str(n) for n in numbers[:20] if abs(n) >= 100_000)
    assert found == {
        "e": sum(any(t.lower() in cell.lower() for t in texts[:5]) for cell in cells),
        "n": sum(bool(re.search(rf"(?<![0-9A-Za-z_])({large})(?!\w)", cell)) for cell in cells),
    }


def test_a_text_is_not_part_of_one_with_a_longer_number() -> None:
    """In texts; before and after other bytes, a digit may be a length."""
    search = ValueSearch([ErasedValues("t", "street", ("5 Main St", "Flat 12", "u7@ex.org"))])
    others = ["15 Main St", "Flat 120", "u7@ex.orgs1", "Flat 1", "6 Main St"]
    cells = ["5 main st", "at 5 Main Street", "Flat 12, Oslo", "Flat 12b", "xu7@ex.org", *others]
    assert dict(search.column("c", pa.array(cells))) == {search._erased[0]: 6}
    found = [cell for cell in cells if list(search.column("c", pa.array([cell])))]
    assert found == [*cells[:5], "u7@ex.orgs1"]
    assert list(search.content(b"25 main st"))
    assert list(search.column("c", pa.array([b"\xff5 Main St5", b"15 main st\xff"]))) != []


def test_a_receipt_that_was_changed_is_not_as_it_was_signed(tmp_path: Path) -> None:
    key = read_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    assert read_key(tmp_path / "key") == key
    lists = ("tables", "findings", "to_do", "unsearched", "not_searched_for", "searched_for")
    document = {"id": "1", "verdict": "erased", "planned": "a", "verified": "b"}
    receipt = ErasureReceipt.sign(
        {**document, "files": 1, "bytes": 2, **{name: [] for name in lists}}, key
    )
    again = ErasureReceipt.read(receipt.save(tmp_path / "receipt.json"))
    assert again.check(tmp_path / "key")
    assert "<h1>Erasure 1: erased</h1>" in again.save(tmp_path / "receipt.html").read_text()
    assert not ErasureReceipt({**again.document, "verdict": "pending"}).check(tmp_path / "key")
    (tmp_path / "other").write_text("x" * 32)
    assert not again.check(tmp_path / "other")
    for key_file, code in (("key", 0), ("other", 1)):
        asked = [
            "erase",
            "check",
            str(tmp_path / "receipt.json"),
            "--key",
            str(tmp_path / key_file),
        ]
        assert CliRunner().invoke(main, asked).exit_code == code
    (tmp_path / "short").write_text("x")
    with pytest.raises(LipstickError, match="less than 16 bytes"):
        read_key(tmp_path / "short")
    with pytest.raises(LipstickError, match="not a receipt of an erasure"):
        ErasureReceipt.read(tmp_path / "short")


def test_a_pipeline_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yaml"
    for text, problem in (
        ("tables: {}", "has sections other than derived, drop, search, sources, spark"),
        ("derived: {t: {key: id}}", "'t' in .* has no query"),
        (
            "derived: {t: {query: SELECT a, b FROM c, key: id}}",
            "'t' in .* has 'b FROM c', which is ",
        ),
        ("sources: [a]", "'sources' in .* is not a mapping"),
        ("a: [", "is not YAML"),
    ):
        path.write_text(text)
        asked = ["erase", "plan", str(path), "--where", "t:id = 1", "-o", str(tmp_path / "plan")]
        result = CliRunner().invoke(main, asked)
        assert result.exit_code == 2
        assert re.search(problem, result.output.replace("\n", " "))


def test_a_date_may_be_that_of_another_row() -> None:
    table = _Place("visits", "visits", "parquet", "/lake/visits", None, frozenset())
    finding = Finding("/lake/visits/a", "people", "a.born", "column born", False, 1, True)
    assert _described(finding, [table], _Mask(b"key", []))["state"] == "possible"
    value = ErasedValues("people", "a.born", ("1980-02-29",), in_column=True)
    assert "1980" not in _Mask(b"key", [value]).text("/lake/born=1980-02-29/f")


def test_a_receipt_concerns_a_value_whatever_its_case(tmp_path: Path) -> None:
    key = read_key(tmp_path / "key")
    earlier = hmac.new(key, b"value:Ada", hashlib.sha256).hexdigest()
    searched = [{"hashes": [keyed_hash(key, EMAIL)]}, {"hashes": [earlier]}]
    receipt = ErasureReceipt.sign({"searched_for": searched}, key)
    for value, concerned in ((EMAIL.upper(), True), ("Ada", True), ("Bo", False)):
        assert receipt.concerns(tmp_path / "key", value) == concerned


@pytest.mark.parametrize(
    ("place", "text", "state"),
    [
        ("column id", False, "live"),
        ("column person.ID", False, "live"),
        ("bytes", False, "live"),
        ("column referrer", True, "live"),
        ("column referrer", False, "possible"),
    ],
)
def test_a_number_in_a_column_of_another_name_may_stand_for_something_else(
    place: str, text: bool, state: str
) -> None:
    """It is reported all the same, and the verdict is then no more than unclear."""
    table = _Place("visits", "visits", "parquet", "/lake/visits", None, frozenset())
    finding = Finding("/lake/visits/a.parquet", "people", "id", place, text, 1)
    described = _described(finding, [table], _Mask(b"key", []))
    assert (described["state"], described["count"]) == (state, 1)
    checks = [{"outcome": "equal"}]
    verdict = {"live": "not erased", "possible": "unclear"}[state]
    assert verdict_of(checks, [described], complete=True) == verdict
    assert verdict_of([{"outcome": "3 rows differ"}], [], complete=True) == "not erased"


def test_places_that_are_not_local_are_neither_removed_nor_taken_for_searched() -> None:
    for path in ("s3://bucket/capture", "hdfs://host/a", "file:///tmp/capture"):
        with pytest.raises(LipstickError, match="is not a local path: it is not removed"):
            check_holder(Path(path))
    checks = [{"outcome": "no such row"}]
    assert verdict_of(checks, [], complete=False) == "unclear"
    assert verdict_of(checks, [{"state": "old version"}], complete=True) == "pending"
    assert verdict_of(checks, [], complete=True) == "erased"
