"""The edits between two texts of a query: each can be made without the others.

The trees of both texts are gone through side by side: WITH by name, subqueries in FROM by alias,
set operations by side. Conjuncts of WHERE, HAVING, QUALIFY and ON, joins, items of SELECT and
other clauses that differ are an edit each. Edits that need each other, such as a join and the
conditions on its columns, are one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import sqlglot
from sqlglot import exp

from rewriter.algebra import conjuncts
from rewriter.dialect import SparkSQL
from rewriter.scalars.text import text

_CONDITIONS = {
    "where": ("WHERE", exp.Where),
    "having": ("HAVING", exp.Having),
    "qualify": ("QUALIFY", exp.Qualify),
}
_APART = frozenset({"with_", "from_", "joins", "expressions", "group", "kind", *_CONDITIONS})
_CLAUSES = {"order": "ORDER BY"}
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class TextEdits:
    """The edits from one text to another.

    Attributes
    ----------
    sentences
        An edit in words, each.
    """

    before: exp.Query
    after: exp.Query
    groups: tuple[tuple[int, ...], ...]
    sentences: tuple[str, ...]

    def text(self, made: Collection[int]) -> str:
        """Return the text before with some edits, by their places in `sentences`."""
        numbers = {number for place in made for number in self.groups[place]}
        return text(_Merge(numbers).query(self.before, self.after))


def text_edits(before: str, after: str) -> TextEdits:
    """Return the edits between two texts; where they have nothing in common, they are one.

    Raises
    ------
    sqlglot.errors.SqlglotError
        For texts that cannot be parsed.
    """
    trees = [sqlglot.parse_one(each, dialect=SparkSQL) for each in (before, after)]
    old, new = (tree if isinstance(tree, exp.Query) else exp.select("*") for tree in trees)
    merge = _Merge(frozenset())
    merge.query(old, new)
    groups = _united(merge.edits)
    return TextEdits(
        old,
        new,
        tuple(tuple(group) for group in groups),
        tuple("; ".join(merge.edits[n].sentence for n in group) for group in groups),
    )


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit: in words, the names of FROM that it adds or removes, and that it mentions."""

    sentence: str
    joins: frozenset[str] = frozenset()
    mentions: frozenset[str] = frozenset()


def _united(edits: Sequence[_Edit]) -> list[list[int]]:
    """Return the numbers of edits, those together that mention a join which comes or goes."""
    groups: list[list[int]] = []
    for number, edit in enumerate(edits):
        names = edit.joins | edit.mentions
        own = [number]
        for group in list(groups):
            joins = frozenset().union(*(edits[n].joins for n in group))
            mentions = frozenset().union(*(edits[n].mentions for n in group))
            if names & joins or edit.joins & mentions:
                own = [*group, *own]
                groups.remove(group)
        groups.append(own)
    return sorted(groups)


@dataclass(slots=True)
class _Merge:
    """Makes the query between two, with the edits of some numbers."""

    made: Collection[int]
    edits: list[_Edit] = field(default_factory=list)

    def _is_made(self, sentence: str, joins: Sequence[str] = (), *trees: exp.Expr | None) -> bool:
        mentions = frozenset(
            column.table.lower()
            for tree in trees
            if tree is not None
            for column in tree.find_all(exp.Column)
            if column.table
        )
        self.edits.append(_Edit(sentence, frozenset(name.lower() for name in joins), mentions))
        return len(self.edits) - 1 in self.made

    def query(self, old: exp.Query, new: exp.Query, name: str = "") -> exp.Query:
        """Return a query that is `old` where its edits are not made."""
        of = f" of {name}" if name else ""
        if old == new:
            return old.copy()
        merged = old.copy()
        match old, new:
            case exp.Subquery(), exp.Subquery() if old.alias == new.alias:
                merged.set("this", self.query(old.this, new.this, old.alias or name))
                return merged
            case exp.Select(), exp.Select() if self._are_alike(old, new):
                self._select(old, new, merged, of)
                return merged
            case exp.SetOperation(), exp.SetOperation() if _operator(old) == _operator(new):
                self._with(old, new, merged)
                for side, word in (("this", "left"), ("expression", "right")):
                    whole = f"the {word} side{of}"
                    merged.set(side, self.query(old.args[side], new.args[side], whole))
                self._rest(old, new, merged, of)
                return merged
        made = self._is_made(f"{name or 'the query'} became another")
        return (new if made else old).copy()

    @staticmethod
    def _are_alike(old: exp.Select, new: exp.Select) -> bool:
        """Return True if two SELECTs read FROM under the same name."""
        sources = [each.args.get("from_") for each in (old, new)]
        names = [
            None if source is None else source.this.alias_or_name.lower() for source in sources
        ]
        return names[0] == names[1] and old.args.get("laterals") == new.args.get("laterals")

    def _select(self, old: exp.Select, new: exp.Select, merged: exp.Query, of: str) -> None:
        self._with(old, new, merged)
        if old.args.get("from_") is not None:
            source = self._source(old.args["from_"].this, new.args["from_"].this, of)
            merged.set("from_", exp.From(this=source))
        self._joins(old, new, merged, of)
        for key, (word, clause) in _CONDITIONS.items():
            was, now = (each.args.get(key) for each in (old, new))
            kept = self._conjuncts(was and was.this, now and now.this, f"{word}{of}")
            merged.set(key, None if kept is None else clause(this=kept))
        if _groups(old) == _groups(new):
            self._items(old, new, merged, of)
        else:
            trees = [*_groups(old), *_groups(new), *old.expressions, *new.expressions]
            shown = [", ".join(map(_shown, _groups(each))) or "none" for each in (old, new)]
            if self._is_made(f"{shown[0]} became {shown[1]}{of}", (), *trees):
                for key in ("group", "expressions"):
                    merged.set(key, new.copy().args.get(key))
        self._rest(old, new, merged, of)

    def _with(self, old: exp.Query, new: exp.Query, merged: exp.Query) -> None:
        """Merge WITH by name; what only one text has is there, since nothing else reads it."""
        items: dict[str, exp.Expr] = {}
        sides = [each.args.get("with_") for each in (old, new)]
        theirs = {cte.alias.lower(): cte for cte in sides[1].expressions} if sides[1] else {}
        own = {cte.alias.lower(): cte for cte in sides[0].expressions} if sides[0] else {}
        for name, cte in theirs.items():
            if name not in own:
                items[name] = cte.copy()
        for name, cte in own.items():
            items[name] = cte.copy()
            if name in theirs:
                items[name].set("this", self.query(cte.this, theirs[name].this, cte.alias))
        found = sides[0] or sides[1]
        if items and found is not None:
            whole = found.copy()
            order = [*(n for n in own if n not in theirs), *theirs] if theirs else list(own)
            whole.set("expressions", [items[name] for name in order])
            merged.set("with_", whole)

    def _source(self, old: exp.Expr, new: exp.Expr, of: str) -> exp.Expr:
        """Return an item of FROM or a join: subqueries are gone through, others replaced."""
        if isinstance(old, exp.Subquery) and isinstance(new, exp.Subquery):
            return self.query(old, new)
        if old == new:
            return old.copy()
        made = self._is_made(f"FROM{of}: {_became(old, new)}", (), old, new)
        return (new if made else old).copy()

    def _joins(self, old: exp.Select, new: exp.Select, merged: exp.Query, of: str) -> None:
        sides = [
            {join.this.alias_or_name.lower(): join for join in each.args.get("joins") or ()}
            for each in (old, new)
        ]
        joins = []
        for name, join in sides[0].items():
            other = sides[1].get(name)
            if other is None:
                if not self._is_made(f"{_shown(join)} was removed{of}", [name], join):
                    joins.append(join.copy())
                continue
            joins.append(self._join(join, other, of))
        for name, join in sides[1].items():
            if name not in sides[0] and self._is_made(
                f"{_shown(join)} was added{of}", [name], join
            ):
                joins.append(join.copy())
        merged.set("joins", joins or None)

    def _join(self, old: exp.Join, new: exp.Join, of: str) -> exp.Join:
        merged = old.copy()
        merged.set("this", self._source(old.this, new.this, of))
        kinds = [_kind(each) for each in (old, new)]
        name = old.this.alias_or_name
        both = [each.args.get("on") for each in (old, new)]
        if (both[0] is None) != (both[1] is None) or old.args.get("using") != new.args.get("using"):
            whole = new.copy()
            whole.set("this", merged.this.copy())
            return whole if self._is_made(f"{_became(old, new)}{of}", (), old, new) else merged
        if kinds[0] != kinds[1] and self._is_made(f"{kinds[0]} {name} became {kinds[1]}{of}"):
            for key in ("side", "kind", "method"):
                merged.set(key, new.args.get(key))
        if both[0] is not None:
            on = self._conjuncts(both[0], both[1], f"ON of {name}{of}")
            merged.set("on", exp.true() if on is None else on)
        return merged

    def _conjuncts(self, old: exp.Expr | None, new: exp.Expr | None, where: str) -> exp.Expr | None:
        own, theirs = (list(conjuncts(each)) if each is not None else [] for each in (old, new))
        removed = [each for each in own if each not in theirs]
        added = [each for each in theirs if each not in own]
        kept = [each.copy() for each in own if each in theirs]
        for gone in removed:
            pair = next((each for each in added if _columns(each) == _columns(gone)), None)
            if pair is not None:
                added.remove(pair)
                made = self._is_made(f"{where}: {_became(gone, pair)}", (), gone, pair)
                kept.append((pair if made else gone).copy())
            elif not self._is_made(f"{where}: {_shown(gone)} was removed", (), gone):
                kept.append(gone.copy())
        kept += [n for n in added if self._is_made(f"{where}: {_shown(n)} was added", (), n)]
        return exp.and_(*kept) if kept else None

    def _items(self, old: exp.Select, new: exp.Select, merged: exp.Query, of: str) -> None:
        if old.expressions == new.expressions:
            return
        own, theirs = (
            [(each.alias_or_name.lower(), each) for each in s.expressions] for s in (old, new)
        )
        by_name = dict(own)
        names = [name for name, _ in theirs]
        read = [merged.args["from_"].this] if merged.args.get("from_") else []
        read += [join.this for join in merged.args.get("joins") or ()]
        there = {"", *(each.alias_or_name.lower() for each in read)}
        items = []
        for place, (name, item) in enumerate(theirs):
            before = by_name.get(name) if name else None
            if before is None and place < len(own) and own[place][0] not in names:
                before = own[place][1]
            if before is None or before == item:
                if {column.table.lower() for column in item.find_all(exp.Column)} <= there:
                    items.append(item.copy())
                continue
            made = self._is_made(f"SELECT{of}: {_became(before, item)}", (), before, item)
            items.append((item if made else before).copy())
        merged.set("expressions", items)

    def _rest(self, old: exp.Query, new: exp.Query, merged: exp.Query, of: str) -> None:
        keys = dict.fromkeys([*old.args, *new.args])
        apart = _APART | {"this", "expression"}
        for key in keys:
            was, now = (each.args.get(key) or None for each in (old, new))
            if key in apart or was == now:
                continue
            word = _CLAUSES.get(key, key.strip("_").upper())
            trees = [each for each in (was, now) if isinstance(each, exp.Expr)]
            shown = [_shown(each) if isinstance(each, exp.Expr) else "" for each in (was, now)]
            change = (
                f"{shown[0] or 'none'} became {shown[1] or 'none'}" if any(shown) else "changed"
            )
            if self._is_made(f"{word}{of}: {change}", (), *trees):
                merged.set(key, now.copy() if isinstance(now, exp.Expr) else now)


def _operator(query: exp.SetOperation) -> tuple[type, object]:
    return type(query), query.args.get("distinct")


def _groups(select: exp.Select) -> list[exp.Expr]:
    group = select.args.get("group")
    return [] if group is None else [group]


def _kind(join: exp.Join) -> str:
    return " ".join(filter(None, (join.method, join.side, join.kind or "", "JOIN"))).replace(
        "INNER JOIN", "JOIN"
    )


def _columns(condition: exp.Expr) -> set[str]:
    return {text(column).lower() for column in condition.find_all(exp.Column)}


def _became(old: exp.Expr, new: exp.Expr) -> str:
    return f"{_shown(old)} became {_shown(new)}"


def _shown(tree: exp.Expr) -> str:
    shown = text(tree).strip()
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 3]}..."
