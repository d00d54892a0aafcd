-- title: recursive beside others
WITH RECURSIVE base AS (SELECT a, b FROM t WHERE b > 0),
c MAX RECURSION LEVEL 1 AS (SELECT a, b FROM base UNION ALL SELECT base.a, c.b FROM base, c WHERE base.b = c.a)
SELECT x.a FROM c AS x JOIN c AS y ON x.b = y.a
-- expected
Project: a_11 'a' := `a_9`
  InnerJoin: `b_9` = `a_10`
    Project: a_9 'a' := `a_4`, b_9 'b' := `b_4`
      [1] Iteration: a_4 'a', b_4 'b'
    Project: a_10 'a' := `a_4`, b_10 'b' := `b_4`
      [1] as above

-- title: recursive distinct
WITH RECURSIVE c AS (SELECT a FROM t UNION SELECT b FROM t JOIN c ON t.a = c.a) SELECT * FROM c
-- error
UnsupportedError: a recursive query that is not a query UNION ALL another is not supported at 1:16
  WITH RECURSIVE c AS (SELECT a FROM t UNION SELECT b FROM t J
                 ^
Store the recursion's answer in a relation and track it.

-- title: recursive join
WITH RECURSIVE c(p, q) MAX RECURSION LEVEL 2 AS (
  SELECT a, b FROM t WHERE a = 1 UNION ALL SELECT c.p, t.b FROM c JOIN t ON c.q = t.a
)
SELECT p, count(*) AS n FROM c GROUP BY p
-- expected
Project: p_2 'p' := `p_3`, n := `count`
  Aggregate: by (p_3 'p' := `a_6`) compute (count 'COUNT(*)' := COUNT(*))
    Project: a_6 'a' := `a_3`, b_7 'b' := `b_3`
      Iteration: a_3 'a', b_3 'b'

-- title: recursive limited
WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM c LIMIT 3) SELECT * FROM c
-- error
UnsupportedError: a recursive query that is not a query UNION ALL another is not supported at 1:16
  WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT a + 1 
                 ^
Store the recursion's answer in a relation and track it.

-- title: recursive of constants
WITH RECURSIVE n MAX RECURSION LEVEL 2 AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3)
SELECT a, i FROM t JOIN n ON a = i
-- expected
Project: a_2 'a' := `a`, i_5 'i' := `i_4`
  InnerJoin: `a` = `i_4`
    Scan t: a, b
    Project: i_4 'i' := `i_2`
      Iteration: i_2 'i'

-- title: recursive random
WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT a FROM c WHERE rand() < 0.5) SELECT * FROM c
-- error
UnsupportedError: a recursive query in which chance decides something is not supported at 1:16
  WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT a FROM
                 ^
Store the recursion's answer in a relation and track it.

-- title: recursive widths
WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT t.a, t.b FROM t JOIN c ON t.a = c.a) SELECT * FROM c
-- error
QueryError: UNION of queries of 1 and 2 columns at 1:16
  WITH RECURSIVE c AS (SELECT a FROM t UNION ALL SELECT t.a, t
                 ^
Select as many columns in each of them.
-- advised
WITH RECURSIVE c AS (SELECT a, b FROM t UNION ALL SELECT t.a, t.b FROM t JOIN c ON t.a = c.a + 1) SELECT * FROM c

-- title: recursive without recursion
WITH RECURSIVE c AS (SELECT 1 AS n) SELECT * FROM c
-- expected
Project: n_2 'n' := `n`
  Project: n := 1
    OneRow
