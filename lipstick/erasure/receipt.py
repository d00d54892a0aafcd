"""Receipts of erasures: the outcome of a verification, signed, without values of erased rows."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from semiring.errors import LipstickError
from semiring.support.door import checked

FORMAT = "lipstick-erasure-receipt/1"
SIGNATURE = "signature"
_SHORTEST_KEY = 16


def read_key(path: Path) -> bytes:
    """Return the secret in a file; a file that is not there is made with a new one.

    Raises
    ------
    LipstickError
        For fewer than 16 bytes.
    """
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(32) + "\n")
    key = path.read_bytes().strip()
    if len(key) < _SHORTEST_KEY:
        raise LipstickError(f"The key in {path} has less than {_SHORTEST_KEY} bytes.")
    return key


def keyed_hash(key: bytes, value: object) -> str:
    """Return the HMAC-SHA256 of a value as text in lower case, as values are searched for.

    Nobody can guess the value without the key.
    """
    return _hashed(key, str(value).lower())


def _hashed(key: bytes, text: str) -> str:
    return hmac.new(key, b"value:" + text.encode(), hashlib.sha256).hexdigest()


def _signature(key: bytes, document: Mapping[str, Any]) -> str:
    content = {name: value for name, value in document.items() if name != SIGNATURE}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hmac.new(key, b"receipt:" + text.encode(), hashlib.sha256).hexdigest()


@checked
class ErasureReceipt:
    """The outcome of the verification of an erasure.

    Made by :meth:`lipstick.ErasurePlan.verify`, or read from a file.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        if document.get("format") != FORMAT:
            raise LipstickError(
                f"This is not a receipt of an erasure: its format is not {FORMAT!r}."
            )
        self.document = dict(document)

    @classmethod
    def sign(cls, document: Mapping[str, Any], key: bytes) -> ErasureReceipt:
        """Return a receipt with its signature."""
        whole = {"format": FORMAT, **document}
        return cls({**whole, SIGNATURE: _signature(key, whole)})

    @property
    def verdict(self) -> str:
        """``erased``, ``pending``, ``unclear`` or ``not erased``.

        Pending: values remain in files that no current version has, and in logs. Unclear: places
        were not searched, or numbers remain that may stand for something else.
        """
        return str(self.document["verdict"])

    @property
    def findings(self) -> list[dict[str, Any]]:
        """Places that still have values of erased rows."""
        return list(self.document["findings"])

    @property
    def to_do(self) -> list[str]:
        """The work that remains, as statements where there are any."""
        return list(self.document["to_do"])

    @property
    def dropped(self) -> list[str]:
        """The captures, stores, files and places to search that are gone since the plan."""
        return list(self.document.get("dropped", ()))

    @property
    def unsearched(self) -> list[dict[str, str]]:
        """Places that were not searched, and the reasons."""
        return list(self.document["unsearched"])

    def check(self, key: str | os.PathLike[str]) -> bool:
        """Return True if the receipt is as it was signed with a key."""
        secret = Path(key).read_bytes().strip()
        signature = str(self.document.get(SIGNATURE, ""))
        return hmac.compare_digest(_signature(secret, self.document), signature)

    def concerns(self, key: str | os.PathLike[str], value: object) -> bool:
        """Return True if a value was among the values searched for, whatever its case."""
        secret = Path(key).read_bytes().strip()
        # Earlier versions hashed values as they are written.
        hashes = {keyed_hash(secret, value), _hashed(secret, str(value))}
        return any(hashes & set(entry["hashes"]) for entry in self.document["searched_for"])

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the receipt as JSON, or as a page for people where the name ends in .html."""
        target = Path(path)
        page = target.suffix in (".html", ".htm")
        text = self.page() if page else json.dumps(self.document, indent=2, ensure_ascii=False)
        target.write_text(text + "\n", encoding="utf-8")
        return target

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ErasureReceipt:
        """Return the receipt in a file."""
        try:
            return cls(json.loads(Path(path).read_text("utf-8")))
        except ValueError as error:
            raise LipstickError(f"{path} is not a receipt of an erasure: {error}") from error

    def page(self) -> str:
        """Return the receipt as HTML."""
        document = self.document
        parts = [
            f"<h1>Erasure {html.escape(document['id'])}: {html.escape(self.verdict)}</h1>",
            f"<p>Planned {html.escape(document['planned'])}, verified "
            f"{html.escape(document['verified'])}. {document['files']:,} files with "
            f"{document['bytes']:,} bytes were searched.</p>",
            _table("Tables", document["tables"], _TABLE_COLUMNS),
            _table("Still there", document["findings"], _FINDING_COLUMNS),
            _list("To do", self.to_do),
            _list("Removed with the rows", self.dropped),
            _table("Not searched", document["unsearched"], ("path", "reason")),
            _list("Not searched for", document["not_searched_for"]),
            f"<p>Signature (HMAC-SHA256): <code>{document[SIGNATURE]}</code></p>",
        ]
        return (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f"<title>Erasure {html.escape(document['id'])}</title><style>{_STYLE}</style></head>"
            f"<body>{''.join(parts)}</body></html>"
        )

    def __repr__(self) -> str:
        return (
            f"<lipstick receipt of erasure {self.document['id']}: {self.verdict}, "
            f"{len(self.findings)} findings>"
        )


_TABLE_COLUMNS = ("table", "role", "rows", "removed", "changed", "check", "outcome")
_FINDING_COLUMNS = ("state", "holder", "path", "place", "column", "count")
_STYLE = (
    "body{font:16px/1.5 sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;"
    "border-bottom:1px solid #bbb;vertical-align:top}.path,.reason{overflow-wrap:anywhere}"
)


def _table(title: str, rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    if not rows:
        return f"<h2>{title}</h2><p>None.</p>"
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td class="{c}">{html.escape(str(row.get(c, "")))}</td>' for c in columns)
        + "</tr>"
        for row in rows
    )
    return f"<h2>{title}</h2><table><tr>{head}</tr>{body}</table>"


def _list(title: str, items: Sequence[str]) -> str:
    if not items:
        return f"<h2>{title}</h2><p>Nothing.</p>"
    listed = "".join(f"<li><code>{html.escape(item)}</code></li>" for item in items)
    return f"<h2>{title}</h2><ul>{listed}</ul>"
