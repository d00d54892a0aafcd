-- title: query of table
(TABLE t)
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`
  Scan t: a, b

-- title: query that is none
WITH x AS (t) SELECT * FROM x
-- error
UnsupportedError: IDENTIFIER is not supported at 1:12
  WITH x AS (t) SELECT * FROM x
             ^
Store its rows in a relation and track it.
-- advised
WITH x AS (SELECT * FROM t) SELECT * FROM x

-- title: range
SELECT * FROM range(10)
-- expected
Project: id_2 'id' := `id`
  Constant RANGE(10): id

-- title: range of expressions
SELECT r.n FROM range(1, 2 + 3, 2) AS r(n)
-- expected
Project: n := `id`
  Constant RANGE(1, 2 + 3, 2): id

-- title: range of five arguments
SELECT id FROM range(0, 10, 1, 2, 3)
-- error
UnsupportedError: range of 5 arguments is not supported at 1:16
  SELECT id FROM range(0, 10, 1, 2, 3)
                 ^^^^^
Write range(start, end, step).
-- advised
SELECT id FROM range(0, 10, 1)

-- title: relation queries
TABLE l UNION ALL (FROM r) UNION ALL VALUES (1, 2, 3) ORDER BY x
-- expected
Sort: `x_3` ASC NULLS FIRST
  UnionAll: x_3 'x', k_5 'k', j_5 'j'
    Project: x_2 'x' := `x`, k_2 'k' := `k`, j_2 'j' := `j`
      Scan l: x, k, j
    Project: y_2 'y' := `y`, j_4 'j' := `j_3`, k_4 'k' := `k_3`
      Scan r: y, j_3 := j, k_3 := k
    Project: col1_3 'col1' := `col1_2`, col2_3 'col2' := `col2_2`, col3_3 'col3' := `col3_2`
      Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`, col3_2 'col3' := `col3`
        Constant VALUES (1, 2, 3, 0): col1, col2, col3, position

-- title: rows placed
SELECT b, count(*) AS n FROM (SELECT a, b FROM t CLUSTER BY a) GROUP BY b DISTRIBUTE BY rand() SORT BY n DESC
-- expected
LocalSort: `n` DESC NULLS LAST
  Project: b_3 'b' := `b_4`, n := `count`
    Aggregate: by (b_4 'b' := `b_2`) compute (count 'COUNT(*)' := COUNT(*))
      LocalSort: 
        Project: a_2 'a' := `a`, b_2 'b' := `b`
          Scan t: a, b

-- title: values
SELECT * FROM VALUES (1, 2) AS v(x, y)
-- expected
Project: x := `col1_2`, y := `col2_2`
  Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`
    Constant VALUES (1, 2, 0): col1, col2, position

-- title: values alone
VALUES (1, 2)
-- expected
Project: col1_3 'col1' := `col1_2`, col2_3 'col2' := `col2_2`
  Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`
    Constant VALUES (1, 2, 0): col1, col2, position

-- title: values in brackets
SELECT * FROM (VALUES (1, 2)) AS v(x, y)
-- expected
Project: x := `col1_2`, y := `col2_2`
  Project: col1_2 'col1' := `col1`, col2_2 'col2' := `col2`
    Constant VALUES (1, 2, 0): col1, col2, position

-- title: values widths
SELECT * FROM VALUES (1, 2), (3) AS v
-- error
QueryError: a row of 1 values among rows of 2 at 1:31
  SELECT * FROM VALUES (1, 2), (3) AS v
                                ^
Give every row as many values.
-- advised
SELECT * FROM VALUES (1, 2), (3, 4) AS v
