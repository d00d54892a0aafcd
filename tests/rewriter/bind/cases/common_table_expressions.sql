-- title: cte
WITH c AS (SELECT a FROM t) SELECT * FROM c
-- expected
Project: a_3 'a' := `a_2`
  Project: a_2 'a' := `a`
    Scan t: a, b

-- title: cte later
WITH d AS (SELECT * FROM c), c AS (SELECT 1 AS one) SELECT * FROM d
-- error
UntrackedError: relation c is not tracked at 1:26
  WITH d AS (SELECT * FROM c), c AS (SELECT 1 AS one) SELECT *
                           ^
Track it first: ls.track("c", ...).
-- advised
WITH c AS (SELECT 1 AS one), d AS (SELECT * FROM c) SELECT * FROM d

-- title: cte of subquery
SELECT a FROM t WHERE EXISTS (WITH c AS (SELECT k FROM l) SELECT * FROM c WHERE c.k = t.a)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k_2` = `a`
    Scan t: a, b
    Project: k_2 'k' := `k`
      Scan l: x, k, j

-- title: cte shadows
WITH t AS (SELECT a AS z FROM t),
  d AS (WITH t AS (SELECT z + 1 AS z FROM t) SELECT * FROM t)
SELECT t.z, d.z FROM t, d
-- expected
Project: z_5 'z' := `z`, z_6 'z' := `z_4`
  InnerJoin
    Project: z := `a`
      Scan t: a, b
    Project: z_4 'z' := `z_3`
      Project: z_3 'z' := `z_2` + 1
        Project: z_2 'z' := `a_2`
          Scan t: a_2 := a, b_2 := b

-- title: cte shared distinct
WITH c AS (SELECT DISTINCT a FROM t) SELECT * FROM c UNION ALL SELECT * FROM c
-- expected
UnionAll: a_8 'a'
  Project: a_5 'a' := `a_4`
    Project: a_4 'a' := `a_3`
      [1] Aggregate: by (a_3 'a' := `a_2`) compute ()
        Project: a_2 'a' := `a`
          Scan t: a, b
  Project: a_7 'a' := `a_6`
    Project: a_6 'a' := `a_3`
      [1] as above

-- title: cte twice bound twice
WITH c AS (SELECT a FROM t WHERE b > 1) SELECT x.a, y.a FROM c AS x JOIN c AS y ON x.a = y.a
-- expected
Project: a_5 'a' := `a_2`, a_6 'a' := `a_4`
  InnerJoin: `a_2` = `a_4`
    Project: a_2 'a' := `a`
      Filter: `b` > 1
        Scan t: a, b
    Project: a_4 'a' := `a_3`
      Filter: `b_2` > 1
        Scan t: a_3 := a, b_2 := b

-- title: cte twice shared
WITH c(k, n) AS (SELECT a, count(*) FROM t GROUP BY a)
SELECT x.n, y.n FROM c AS x JOIN c AS y ON x.k = y.k WHERE x.n = (SELECT max(n) FROM c)
-- expected
Project: n := `count_3`, n_2 'n' := `count_4`
  Filter: `count_3` = `subquery`
    ScalarSubquery: subquery
      InnerJoin: `a_4` = `a_5`
        Project: a_4 'a' := `a_2`, count_3 'COUNT(*)' := `count`
          [1] Project: a_2 'a' := `a_3`, count 'COUNT(*)' := `count_2`
            Aggregate: by (a_3 'a' := `a`) compute (count_2 'COUNT(*)' := COUNT(*))
              Scan t: a, b
        Project: a_5 'a' := `a_2`, count_4 'COUNT(*)' := `count`
          [1] as above
      Project: max_n 'max(n)' := `max_count_5`
        Aggregate: by () compute (max_count_5 'max(count_5)' := MAX(`count_5`))
          Project: a_6 'a' := `a_2`, count_5 'COUNT(*)' := `count`
            [1] as above
