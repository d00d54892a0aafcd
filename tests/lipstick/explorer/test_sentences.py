"""What the explorer says of rows and values, in words."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from lipstick.capture.capture import Capture
from lipstick.explorer.captures.source import CaptureSource
from tests.lipstick.explorer.conftest import ask
from tests.oracle.database import Database, Relation
from tests.oracle.written import write_capture

NESTED = (
    "SELECT bought, count(*) AS users FROM (SELECT u.id, count(o.k) AS bought FROM users u"
    " LEFT JOIN orders o ON o.user = u.id GROUP BY u.id) GROUP BY bought ORDER BY bought"
)


def captured(query: str, folder: Path) -> Capture:
    """A capture of a query over users, of whom two ordered nothing, and their orders."""
    users = Relation(
        "users",
        ("id",),
        "id int, name string",
        pa.table({"id": [1, 2, 3, 4, 5], "name": list("abcde")}),
    )
    orders = Relation(
        "orders",
        ("k",),
        "k int, user int, price double",
        pa.table({"k": [1, 2, 3, 4], "user": [1, 1, 2, 3], "price": [0.1, 0.2, 5.0, 7.0]}),
    )
    return write_capture(query, Database({"users": users, "orders": orders}), folder / "captured")


def test_inner_groups_are_called_as_the_query_has_them(tmp_path: Path) -> None:
    source = CaptureSource("nested", captured(NESTED, tmp_path))
    assert ask(source, "rows")["rows"] == [["0", "2"], ["1", "2"], ["2", "1"]]
    assert ask(source, "about")["explained"] == [1]  # keys of groups are no numbers
    said = [ask(source, "value", row=row, column="users")["sentence"] for row in range(3)]
    assert said[0] == (
        "users 2 of bought = 0: 2 groups by id, of 2 rows of users and none of orders. "
        "Without any one of them it is 1 less."
    )
    assert said[1].startswith("users 2 of bought = 1: 2 groups by id, of 2 rows of ")
    assert said[2].startswith("users 1 of bought = 2: 1 group by id, of ")


def test_a_row_says_what_it_is_made_of(tmp_path: Path) -> None:
    source = CaptureSource("nested", captured(NESTED, tmp_path))
    first, second, third = (ask(source, "why", row=row) for row in range(3))
    assert first["sentence"] == "It is made of 2 rows of users and none of orders."
    assert second["sentence"] == "It is made of 2 rows of users and 2 rows of orders."
    # Members of inner groups are no derivations of the row.
    assert [each["members"] for each in (first, second, third)] == [2, 2, 1]
    joined = captured("SELECT name, price FROM users JOIN orders ON user = id", tmp_path / "joined")
    row = ask(CaptureSource("joined", joined), "why", row=0)
    assert (row["sentence"], row["members"]) == (
        "It is made of 1 row of users and 1 row of orders.",
        1,
    )


def test_rows_that_are_alike_are_not_said_to_be_the_most(tmp_path: Path) -> None:
    query = (
        "SELECT avg(price) AS mean, count(o.k) AS n FROM users LEFT JOIN orders o ON o.user = id"
    )
    source = CaptureSource("alike", captured(query, tmp_path))
    assert ask(source, "value", row=0, column="n")["sentence"].endswith(
        "Without any one of them it is 1 less."
    )
    assert ask(source, "value", row=0, column="mean")["sentence"].endswith("less, the most.")


def test_a_name_that_as_gives_is_no_relation(tmp_path: Path) -> None:
    query = (
        "SELECT count(*) AS users, max(u.id) AS `orders` FROM users AS u JOIN orders ON user = id"
    )
    mentions = ask(CaptureSource("named", captured(query, tmp_path)), "query")["mentions"]
    marked = [(query[each["start"] : each["end"]], each["relation"]) for each in mentions]
    assert marked == [("users", "users"), ("orders", "orders")]
    assert mentions[0]["start"] == query.index("FROM users") + len("FROM ")


def test_a_number_of_a_row_without_a_key_is_called_by_the_row(tmp_path: Path) -> None:
    query = (
        "WITH t AS (SELECT user, sum(price) AS total FROM orders GROUP BY user)"
        " SELECT user, total, rank() OVER (ORDER BY total) AS place FROM t ORDER BY user"
    )
    source = CaptureSource("ranked", captured(query, tmp_path))
    assert ask(source, "value", row=2, column="place")["sentence"].startswith(
        "place 3 of user = 3: its row is made of 4 rows of orders. Without "
    )


def test_derivations_are_listed_where_they_are_captured(tmp_path: Path) -> None:
    nested = CaptureSource("nested", captured(NESTED, tmp_path))
    assert not ask(nested, "why", row=0)["listed"]
    plain = CaptureSource("plain", captured("SELECT name FROM users", tmp_path / "plain"))
    assert ask(plain, "why", row=0)["listed"]
    assert ask(plain, "members", row=0)["total"] == 1
