"""Functions of the moment: which they are, and their values as literals."""

from rewriter.dialect import emit, parse, volatile_calls, with_literals

VALUES = {
    "current_date": "2020-01-31",
    "current_time": "10:11:12",
    "localtimestamp": "2020-01-31 10:11:12",
    "now": "2020-01-31T10:11:12.000000Z",
    "unix_timestamp": "5",
}


def test_calls_are_found() -> None:
    query = parse("SELECT now(), a FROM t WHERE d < current_date AND x > unix_timestamp()")
    assert set(volatile_calls(query)) == {"now", "current_date", "unix_timestamp"}


def test_calls_with_arguments_stay() -> None:
    assert not volatile_calls(parse("SELECT unix_timestamp(s), now_(), `now` FROM t"))


def test_literals_take_their_place() -> None:
    query = parse("SELECT a FROM t WHERE ts < now() AND d = current_date AND x = unix_timestamp()")
    assert emit(with_literals(query, VALUES), pretty=False) == (
        "SELECT a FROM t WHERE ts < TIMESTAMP_LTZ '2020-01-31T10:11:12.000000Z' "
        "AND d = DATE '2020-01-31' AND x = 5L"
    )


def test_columns_keep_their_names() -> None:
    query = parse("SELECT localtimestamp(), current_time(3), current_date AS d")
    assert emit(with_literals(query, VALUES), pretty=False) == (
        "SELECT TIMESTAMP_NTZ '2020-01-31 10:11:12' AS `localtimestamp()`, "
        "CAST(TIME '10:11:12' AS TIME(3)) AS `current_time(3)`, DATE '2020-01-31' AS d"
    )


def test_precisions_and_names_are_those_of_spark() -> None:
    query = parse("SELECT curdate(), localtime(), localtime(0), t.localtime FROM t")
    values = {"curdate": "2020-01-31", "localtime": "10:11:12"}
    assert set(volatile_calls(query)) == set(values)
    assert emit(with_literals(query, values), pretty=False) == (
        "SELECT DATE '2020-01-31' AS `current_date()`, TIME '10:11:12' AS `current_time(6)`, "
        "CAST(TIME '10:11:12' AS TIME(0)) AS `current_time(0)`, t.localtime FROM t"
    )
