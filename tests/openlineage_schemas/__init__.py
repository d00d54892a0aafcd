"""Events held against the published schemas of OpenLineage, and ours, without a network."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from openlineage.client.serde import Serde
from referencing import Registry, Resource

import lipstick

_FOLDERS = (Path(__file__).parent, Path(lipstick.__file__).parent / "openlineage")


@cache
def _registry() -> Registry[Any]:
    schemas = [json.loads(p.read_text()) for folder in _FOLDERS for p in folder.glob("*.json")]
    named = [(schema["$id"], Resource.from_contents(schema)) for schema in schemas]
    return Registry().with_resources(named)


def validated(event: Any) -> dict[str, Any]:
    """Return an event as JSON, which its schema and those of all of its facets allow."""
    document: dict[str, Any] = event if isinstance(event, dict) else Serde.to_dict(event)
    _validate(document, document["schemaURL"])
    for facet in _facets(document):
        _validate(facet, facet["_schemaURL"])
    return document


def _facets(document: Any) -> list[dict[str, Any]]:
    if isinstance(document, list):
        return [facet for each in document for facet in _facets(each)]
    if not isinstance(document, dict):
        return []
    own = [document] if "_schemaURL" in document else []
    return own + [facet for each in document.values() for facet in _facets(each)]


def _validate(document: dict[str, Any], schema: str) -> None:
    jsonschema.Draft202012Validator(
        {"$ref": schema},
        registry=_registry(),
        format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
    ).validate(document)
