"""The catalogue of calls: read from YAML, looked up by full name, by kind and by method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from lipstick.systems.scripts.errors import ScriptError
from lipstick.systems.scripts.facts.fact import SELF, Fact, Parameter, read_fact
from lipstick.workflow.definition import bounded_yaml

PLAIN = "data"
"""The kind of values that hold only containers, texts and numbers of Python, at any depth."""

_PLAIN_CLASSES = ("list", "dict", "str", "tuple", "set", "bytes", "float")


@dataclass(slots=True)
class Catalogue:
    """Facts about calls, by the full name of the function, method or class.

    Attributes
    ----------
    classes
        By kind of value, the full name of its class.
    attributes
        By class and attribute, the kind of the attribute's value.
    elements
        By kind, the kind of the values that indexing gives.
    methods
        By the name of a method, the facts of all classes that have it.
    modules
        The libraries whose import changes nothing but their own names, by their first name.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    classes: dict[str, str] = field(default_factory=dict)
    attributes: dict[tuple[str, str], str] = field(default_factory=dict)
    elements: dict[str, str] = field(default_factory=dict)
    methods: dict[str, list[Fact]] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    _joined: dict[str, Fact | None] = field(default_factory=dict)

    def of_method(self, kind: str, method: str) -> Fact | None:
        """The fact about a method of values of a kind."""
        if kind == PLAIN:
            return self._of_plain(method)
        name = self.classes.get(kind)
        return None if name is None else self.facts.get(f"{name}.{method}")

    def _of_plain(self, method: str) -> Fact | None:
        """Return the joined facts about a method of containers, texts and numbers, or None."""
        key = f"{PLAIN}.{method}"
        if key not in self._joined:
            known = [self.facts.get(f"{owner}.{method}") for owner in _PLAIN_CLASSES]
            found = [fact for fact in known if fact is not None]
            self._joined[key] = _joined(method, found) if found else None
        return self._joined[key]

    def by_name(self, method: str) -> Fact | None:
        """Return the joined facts of all classes that have a method of this name, or None."""
        try:
            return self._joined[method]
        except KeyError:
            known = self.methods.get(method)
            self._joined[method] = _joined(method, known) if known else None
            return self._joined[method]

    def add(self, document: Mapping[str, Any], origin: str) -> None:
        """Add the facts of a document; later documents take precedence over earlier ones.

        Raises
        ------
        ScriptError
            A document of another form.
        """
        prefix = str(document.get("module", "") or "")

        def full(name: str) -> str:
            return f"{prefix}.{name}" if prefix and prefix != "builtins" else name

        try:
            for kind, name in document.get("kinds", {}).items():
                self.classes[kind] = full(name)
            for owner, attributes in document.get("attributes", {}).items():
                for attribute, kind in attributes.items():
                    self.attributes[full(owner), attribute] = kind
            self.elements.update(document.get("elements", {}))
            self.modules.update(document.get("modules", ()))
            self.modules.add(prefix.split(".", maxsplit=1)[0])
            for group in document.get("groups", ()):
                shared = {k: v for k, v in group.items() if k not in ("names", "of")}
                owner = f"{group['of']}." if "of" in group else ""
                for name in group["names"]:
                    self._put(read_fact(full(owner + name), shared))
            for name, given in document.get("calls", {}).items():
                self._put(read_fact(full(str(name)), given))
        except (AttributeError, KeyError, TypeError) as error:
            raise ScriptError(
                f"{origin} is not a list of facts: {error}.\nWrite 'calls:' and under it a line per"
                " call, such as 'library.function: {reads: path@0, returns: frame}'."
            ) from error
        self._index()

    def _put(self, fact: Fact) -> None:
        if "." in fact.name:
            self.modules.add(fact.name.split(".", maxsplit=1)[0])
        self.facts[fact.name] = fact

    def _index(self) -> None:
        owners = set(self.classes.values())
        self.methods = {}
        self._joined = {}
        for name, fact in self.facts.items():
            owner, _, method = name.rpartition(".")
            if owner in owners:
                self.methods.setdefault(method, []).append(fact)

    def copy(self) -> Catalogue:
        """A catalogue that can be added to without changing this one."""
        return replace(
            self,
            facts=dict(self.facts),
            classes=dict(self.classes),
            attributes=dict(self.attributes),
            elements=dict(self.elements),
            modules=set(self.modules),
            methods={name: list(known) for name, known in self.methods.items()},
            _joined={},
        )


def _joined(method: str, known: list[Fact]) -> Fact:
    """Join the facts about methods of one name into one fact."""
    if len(known) == 1:
        return known[0]
    kinds = {fact.returns for fact in known}
    ratios = {fact.ratio for fact in known}
    return Fact(
        method,
        reads=next((fact.reads for fact in known if fact.reads), None),
        writes=next((fact.writes for fact in known if fact.writes), None),
        appends=any(fact.appends for fact in known),
        mutates=tuple(dict.fromkeys(item for fact in known for item in fact.mutates)),
        stores=any(fact.stores for fact in known),
        inplace=any(fact.inplace for fact in known),
        copy=next((fact.copy for fact in known if fact.copy), None),
        out=next((fact.out for fact in known if fact.out), None),
        looks=next((fact.looks for fact in known if fact.looks), None),
        touches=next((fact.touches for fact in known if fact.touches), None),
        shares=any(fact.shares for fact in known),
        state=tuple(dict.fromkeys(item for fact in known for item in fact.state)),
        observes=tuple(dict.fromkeys(item for fact in known for item in fact.observes)),
        returns=kinds.pop() if len(kinds) == 1 else "",
        ratio=ratios.pop() if len(ratios) == 1 else None,
    )


def catalogue(more: Iterable[Path] = ()) -> Catalogue:
    """Return the facts that come with lipstick and in YAML files, which take precedence.

    Raises
    ------
    ScriptError
        A file that cannot be read, or with a field that no fact has.
    """
    paths = list(more)
    if not paths:
        return _packaged()
    known_facts = _packaged().copy()
    for path in paths:
        try:
            document = bounded_yaml.load(path.read_text(encoding="utf-8"))
        except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
            raise ScriptError(f"{path} cannot be read as facts: {error}") from error
        known_facts.add(document if isinstance(document, dict) else {"calls": document}, str(path))
    return known_facts


@lru_cache(maxsize=1)
def _packaged() -> Catalogue:
    facts = Catalogue()
    folder = files("lipstick.systems.scripts.facts") / "data"
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".yaml"):
            loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
            facts.add(yaml.load(entry.read_text(encoding="utf-8"), loader), entry.name)
    return facts


def unknown_fact(name: str, why: str) -> Fact:
    """The most that a call may do to what it is given: change all of it, and give it back."""
    everything = (Parameter(SELF), Parameter(fixed="?"))
    return Fact(name, mutates=everything, stores=True, shares=True, unknown=why)
