-- title: aggregate of order
SELECT approx_top_k(price) FROM cars
-- error
UnsupportedError: aggregate approx_top_k, whose value depends on the order of the rows, is not supported at 1:8
  SELECT approx_top_k(price) FROM cars
         ^^^^^^^^^^^^
Count the items: GROUP BY them, ORDER BY count(*) DESC LIMIT n.
-- advised
SELECT price, count(*) AS n FROM cars GROUP BY price ORDER BY count(*) DESC LIMIT 5

-- title: distinct
SELECT DISTINCT a, b + 1 AS c FROM t ORDER BY c
-- expected
Sort: `c_2` ASC NULLS FIRST
  Aggregate: by (a_3 'a' := `a_2`, c_2 'c' := `c`) compute ()
    Project: a_2 'a' := `a`, c := `b` + 1
      Scan t: a, b

-- title: distinct on
SELECT DISTINCT ON (a) a, b FROM t
-- error
UnsupportedError: DISTINCT ON is not supported at 1:8
  SELECT DISTINCT ON (a) a, b FROM t
         ^^^^^^^^
Aggregate with GROUP BY.
-- advised
SELECT a, min(b) AS b FROM t GROUP BY a

-- title: distinct order by other column
SELECT DISTINCT a FROM t ORDER BY b
-- error
QueryError: column b is not known at 1:35
  CT DISTINCT a FROM t ORDER BY b
                                ^
Name a column of the relations in FROM.
-- advised
SELECT DISTINCT a FROM t ORDER BY a

-- title: limit
SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2
-- expected
Limit: 3 offset 2
  Sort: `a_2` ASC NULLS FIRST
    Project: a_2 'a' := `a`
      Scan t: a, b

-- title: limit all
SELECT a FROM t LIMIT ALL
-- expected
Project: a_2 'a' := `a`
  Scan t: a, b

-- title: limit expression
SELECT a FROM t ORDER BY a LIMIT 1 + 1
-- error
UnsupportedError: LIMIT of an expression is not supported at 1:28
  SELECT a FROM t ORDER BY a LIMIT 1 + 1
                             ^^^^^
Give a number, or a parameter.
-- advised
SELECT a FROM t ORDER BY a LIMIT 2

-- title: limit hidden column
SELECT a FROM t ORDER BY b LIMIT 3
-- expected
Project: a_3 'a' := `a_2`
  Limit: 3 offset 0
    Sort: `b_2` ASC NULLS FIRST
      Project: a_2 'a' := `a`, b_2 'b' := `b`
        Scan t: a, b

-- title: limit without order
SELECT a
FROM t
LIMIT 3
-- expected
Limit: 3 offset 0
  Project: a_2 'a' := `a`
    Scan t: a, b

-- title: offset without order
SELECT a FROM t OFFSET 3
-- expected
Limit: all offset 3
  Project: a_2 'a' := `a`
    Scan t: a, b

-- title: order by
SELECT a, b FROM t ORDER BY a, b DESC, a NULLS LAST, b DESC NULLS FIRST
-- expected
Sort: `a_2` ASC NULLS FIRST, `b_2` DESC NULLS LAST, `a_2` ASC NULLS LAST, `b_2` DESC NULLS FIRST
  Project: a_2 'a' := `a`, b_2 'b' := `b`
    Scan t: a, b

-- title: order by aggregate
SELECT dealer, count(*) FROM cars GROUP BY dealer ORDER BY count(*) DESC, max(price)
-- expected
Project: dealer_4 'dealer' := `dealer_2`, count_3 'COUNT(*)' := `count`
  Sort: `count` DESC NULLS LAST, `max_price_2` ASC NULLS FIRST
    Project: dealer_2 'dealer' := `dealer_3`, count 'COUNT(*)' := `count_2`, max_price_2 'max_price' := `max_price`
      Aggregate: by (dealer_3 'dealer' := `dealer`) compute (count_2 'COUNT(*)' := COUNT(*), max_price 'max(price)' := MAX(`price`))
        Scan cars: car_id, model, price, sold, dealer

-- title: order by alias before column
SELECT b AS a, a AS b FROM t ORDER BY a + b, t.a
-- expected
Sort: `a_2` + `b_2` ASC NULLS FIRST, `b_2` ASC NULLS FIRST
  Project: a_2 'a' := `b`, b_2 'b' := `a`
    Scan t: a, b

-- title: order by all
SELECT a, b FROM t ORDER BY ALL DESC
-- expected
Sort: `a_2` DESC NULLS LAST, `b_2` DESC NULLS LAST
  Project: a_2 'a' := `a`, b_2 'b' := `b`
    Scan t: a, b

-- title: order by not selected
SELECT model FROM cars ORDER BY price DESC, upper(dealer)
-- expected
Project: model_3 'model' := `model_2`
  Sort: `price_2` DESC NULLS LAST, UPPER(`dealer_2`) ASC NULLS FIRST
    Project: model_2 'model' := `model`, price_2 'price' := `price`, dealer_2 'dealer' := `dealer`
      Scan cars: car_id, model, price, sold, dealer

-- title: order by ordinal
SELECT a + b, b FROM t ORDER BY 1 DESC, (2)
-- expected
Sort: `a_b` DESC NULLS LAST, `b_2` ASC NULLS FIRST
  Project: a_b 'a + b' := `a` + `b`, b_2 'b' := `b`
    Scan t: a, b

-- title: ordinal
SELECT a FROM t ORDER BY 2
-- error
QueryError: ORDER BY position 2 is not in the select list at 1:26
  SELECT a FROM t ORDER BY 2
                           ^
Give a position from 1 to 1.
-- advised
SELECT a FROM t ORDER BY 1
