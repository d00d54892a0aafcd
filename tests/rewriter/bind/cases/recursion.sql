-- title: recursive beside others
WITH RECURSIVE base AS (SELECT a, b FROM t WHERE b > 0),
c MAX RECURSION LEVEL 1 AS (SELECT a, b FROM base UNION ALL SELECT base.a, c.b FROM base, c WHERE base.b = c.a)
SELECT x.a FROM c AS x JOIN c AS y ON x.b = y.a
-- expected
Project: a_11 'a' := `a_9`
  InnerJoin: `b_9` = `a_10`
    Project: a_9 'a' := `a_8`, b_9 'b' := `b_8`
      [2] UnionAll: a_8 'a', b_8 'b'
        [1] Project: a_3 'a' := `a_2`, b_3 'b' := `b_2`
          Project: a_2 'a' := `a`, b_2 'b' := `b`
            Filter: `b` > 0
              Scan t: a, b
        Project: a_7 'a' := `a_5`, b_7 'b' := `b_6`
          Filter: `b_5` = `a_6`
            InnerJoin
              Project: a_5 'a' := `a_4`, b_5 'b' := `b_4`
                Filter: `b_4` > 0
                  Scan t: a_4 := a, b_4 := b
              Project: a_6 'a' := `a_3`, b_6 'b' := `b_3`
                Level
                  [1] as above
    Project: a_10 'a' := `a_8`, b_10 'b' := `b_8`
      [2] as above

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
Project: p_4 'p' := `p_5`, n := `count`
  Aggregate: by (p_5 'p' := `a_7`) compute (count 'COUNT(*)' := COUNT(*))
    Project: a_7 'a' := `a_6`, b_10 'b' := `b_9`
      UnionAll: a_6 'a', b_9 'b'
        [1] Project: a_2 'a' := `a`, b_2 'b' := `b`
          Filter: `a` = 1
            Scan t: a, b
        [2] Project: p := `a_3`, b_5 'b' := `b_4`
          InnerJoin: `b_3` = `a_4`
            Project: a_3 'a' := `a_2`, b_3 'b' := `b_2`
              Level
                [1] as above
            Scan t: a_4 := a, b_4 := b
        Project: p_3 'p' := `p_2`, b_8 'b' := `b_7`
          InnerJoin: `b_6` = `a_5`
            Project: p_2 'p' := `p`, b_6 'b' := `b_5`
              Level
                [2] as above
            Scan t: a_5 := a, b_7 := b

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
    Project: i_4 'i' := `i_3`
      UnionAll: i_3 'i'
        [1] Project: i := 1
          OneRow
        [2] Project: i_1 'i + 1' := `i_2` + 1
          Filter: `i_2` < 3
            Project: i_2 'i' := `i`
              Level
                [1] as above
        Project: i_1_3 'i + 1' := `i_1_2` + 1
          Filter: `i_1_2` < 3
            Project: i_1_2 'i + 1' := `i_1`
              Level
                [2] as above

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
