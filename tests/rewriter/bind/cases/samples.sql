-- title: sample of expression
SELECT a FROM t TABLESAMPLE ((1 + 2) ROWS)
-- error
UnsupportedError: TABLESAMPLE of an expression is not supported at 1:17
  SELECT a FROM t TABLESAMPLE ((1 + 2) ROWS)
                  ^^^^^^^^^^^
Give a number of rows.
-- advised
SELECT a FROM t TABLESAMPLE (3 ROWS)

-- title: sample of join
SELECT a, x FROM (t JOIN l ON a = x) TABLESAMPLE (50 PERCENT)
-- expected
Project: a_2 'a' := `a`, x_2 'x' := `x`
  Sample: TABLESAMPLE (50 PERCENT)
    InnerJoin: `a` = `x`
      Scan t: a, b
      Scan l: x, k, j

-- title: sample percent
SELECT q.a FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (7) AS q JOIN (SELECT x FROM l) TABLESAMPLE (BUCKET 1 OUT OF 4) AS p ON a = x
-- expected
Project: a_2 'a' := `a`
  InnerJoin: `a` = `x_2`
    Sample: TABLESAMPLE (10 PERCENT) REPEATABLE (7)
      Scan t: a, b
    Sample: TABLESAMPLE (BUCKET 1 OUT OF 4)
      Project: x_2 'x' := `x`
        Scan l: x, k, j

-- title: sample rows
SELECT a FROM t TABLESAMPLE (3 ROWS) WHERE b > 1
-- expected
Project: a_2 'a' := `a`
  Filter: `b` > 1
    Limit: 3 offset 0
      Scan t: a, b
