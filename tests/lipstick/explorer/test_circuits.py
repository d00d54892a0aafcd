"""A row's annotation as a picture: its gates, each once, and by part where there are many."""

from __future__ import annotations

from typing import Any

import pytest

from lipstick.explorer.captures import circuit as circuits
from lipstick.explorer.captures.circuit import MOST, circuit
from lipstick.explorer.errors import ExploreError
from semiring.expression import Expression
from semiring.polynomial import Polynomial
from semiring.token import Token


def token(relation: str, *key: Any) -> Polynomial:
    return Polynomial.token(Token(relation, key))


def drawn(picture: dict[str, Any]) -> set[tuple[str, str]]:
    """The edges of a picture, by the labels of their ends."""
    labels = [box["label"] for box in picture["boxes"]]
    return {(labels[edge["source"]], labels[edge["target"]]) for edge in picture["edges"]}


def test_gates_lead_from_the_inputs_to_the_row() -> None:
    a, b, c = (token("r", name) for name in "abc")
    picture = circuit(Expression.of(a * b + a * c).delta(), [])
    assert drawn(picture) == {("r a", "×"), ("r b", "+"), ("r c", "+"), ("+", "×"), ("×", "δ")}
    assert (picture["shown"], picture["total"]) == (6, 6)
    (box,) = (box for box in picture["boxes"] if box["label"] == "r a")
    assert (box["kind"], box["relation"], box["text"]) == ("node", "r", "a")
    assert all(len(box["at"]) == 4 for box in picture["boxes"])


def test_a_gate_that_is_used_twice_is_drawn_once_and_says_how_often() -> None:
    a, b = token("r", "a"), token("r", "b")
    picture = circuit(a * a + Polynomial.constant(3) * b, [])
    labels = [box["label"] for box in picture["boxes"]]
    counts = {
        (labels[edge["source"]], labels[edge["target"]]): edge["count"] for edge in picture["edges"]
    }
    assert counts == {("r a", "×"): 2, ("×", "+"): 1, ("r b", "+"): 3}


def test_large_circuits_are_opened_by_part() -> None:
    groups = [
        Expression.of(Polynomial.sum([token("r", group, n) for n in range(20)])).delta()
        for group in range(30)
    ]
    whole = Expression.of(token("s", 0)) * Expression.of(0)
    for group in groups:
        whole = whole + group
    picture = circuit(whole, [])
    assert picture["shown"] <= MOST < picture["total"]
    folded = [box for box in picture["boxes"] if box["kind"] == "bundle"]
    assert folded
    assert all("gates" in box["label"] for box in folded)
    part = circuit(whole, folded[0]["focus"]["part"])
    assert part["shown"] == part["total"] == 22 - len(folded[0]["focus"]["part"]) + 1
    assert part["crumbs"][0]["label"] == "row"
    with pytest.raises(ExploreError, match="no such part"):
        circuit(whole, [99])


def test_up_to_so_many_gates_are_one_picture() -> None:
    picture = circuit(Polynomial.sum([token("r", n) for n in range(MOST - 1)]), [])
    assert len(picture["boxes"]) == picture["shown"] == picture["total"] == MOST


@pytest.mark.parametrize("count", [MOST, 1_000, 1_005])
def test_every_operand_of_a_wide_gate_is_in_some_part(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuits, "OPERANDS", 1_000)
    whole = Polynomial.sum([token("r", n) for n in range(count)])
    found: set[str] = set()
    part: list[int] | None = []
    while part is not None:
        picture = circuit(whole, part)
        boxes = picture["boxes"]
        assert picture["shown"] <= MOST
        assert not part or picture["total"] == count - len(found)
        found |= {box["text"] for box in boxes if box["kind"] == "node"}
        others = [box for box in boxes[1:] if box["kind"] == "bundle"]
        left = count - len(found)
        assert [box["label"] for box in others] == ([f"{left:,} more"] if left else [])
        part = next((box["focus"]["part"] for box in others if box["focus"]), None)
    assert len(found) == min(count, 1_000)
    assert circuit(whole, [])["total"] == count + 1
