-- title: column names
SELECT * FROM t AS u(p)
-- error
QueryError: 1 column names are given for 2 columns at 1:15
  SELECT * FROM t AS u(p)
                ^
Name each column once.
-- advised
SELECT * FROM t AS u(p, q)

-- title: derived table
SELECT q.m FROM (SELECT model AS m, price FROM cars WHERE price > 1) AS q WHERE q.price < 5
-- expected
Project: m_2 'm' := `m`
  Filter: `price_2` < 5
    Project: m := `model`, price_2 'price' := `price`
      Filter: `price` > 1
        Scan cars: car_id, model, price, sold, dealer

-- title: derived table column names
SELECT p, q FROM (SELECT a, b FROM t) AS z(p, q)
-- expected
Project: p := `a_2`, q := `b_2`
  Project: a_2 'a' := `a`, b_2 'b' := `b`
    Scan t: a, b

-- title: derived table without alias
SELECT a FROM (SELECT a, a FROM t)
-- expected
Project: a_4 'a' := `a_2`
  Project: a_2 'a' := `a`, a_3 'a' := `a`
    Scan t: a, b

-- title: limit of ordered derived table
SELECT a FROM (SELECT a FROM t ORDER BY a) LIMIT 3
-- expected
Limit: 3 offset 0
  Project: a_3 'a' := `a_2`
    Sort: `a_2` ASC NULLS FIRST
      Project: a_2 'a' := `a`
        Scan t: a, b

-- title: table column names
SELECT u.p FROM t AS u(p, q) WHERE q = 1
-- expected
Project: p := `a`
  Filter: `b` = 1
    Scan t: a, b
