-- title: exists
SELECT a FROM t WHERE EXISTS (SELECT * FROM l WHERE l.x = t.a AND k <> b) AND b > 0
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `x` = `a` AND `k` <> `b`
    Filter: `b` > 0
      Scan t: a, b
    Scan l: x, k, j

-- title: exists grouped
SELECT a FROM t
WHERE EXISTS (SELECT k FROM l WHERE k = t.a AND x > 1 GROUP BY k HAVING sum(x) IS NOT NULL)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k_2` = `a`
    Scan t: a, b
    Filter: `sum_x` IS NOT NULL
      Aggregate: by (k_2 'k' := `k`) compute (sum_x 'SUM(x)' := SUM(`x`))
        Filter: `x` > 1
          Scan l: x, k, j

-- title: exists grouped two keys
SELECT a FROM t
WHERE EXISTS (SELECT 1 FROM l WHERE b = j AND t.a = l.k + 1 GROUP BY x HAVING count(*) > 2)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `j_2` = `b` AND `key` = `a`
    Scan t: a, b
    Filter: `count` > 2
      Aggregate: by (x_2 'x' := `x`, j_2 'j' := `j`, key := `k` + 1) compute (count 'COUNT(*)' := COUNT(*))
        Scan l: x, k, j

-- title: exists in brackets
SELECT a FROM t WHERE EXISTS ((SELECT 1 FROM l WHERE x = a))
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `x` = `a`
    Scan t: a, b
    Scan l: x, k, j

-- title: exists in select
SELECT EXISTS (SELECT 1 FROM l) FROM t
-- expected
Project: exists_select_1_from_l 'EXISTS(SELECT 1 FROM l)' := `found`
  ExistenceJoin found
    Scan t: a, b
    Scan l: x, k, j

-- title: exists inner name wins
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM t AS u WHERE a > 1 AND u.b = t.b)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b_2` = `b`
    Scan t: a, b
    Filter: `a_2` > 1
      Scan t: a_2 := a, b_2 := b

-- title: exists nested
SELECT a FROM t
WHERE EXISTS (SELECT 1 FROM l WHERE x = a AND k IN (SELECT k FROM r WHERE r.j = l.j))
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `x` = `a`
    Scan t: a, b
    SemiJoin: `k` = `k_2` AND `j_2` = `j`
      Scan l: x, k, j
      Scan r: y, j_2 := j, k_2 := k

-- title: exists uncorrelated
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l WHERE x > 3)
-- expected
Project: a_2 'a' := `a`
  SemiJoin
    Scan t: a, b
    Filter: `x` > 3
      Scan l: x, k, j

-- title: join condition exists
SELECT a FROM t JOIN l ON a = x AND EXISTS (SELECT 1 FROM r WHERE r.k = l.k)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k_2` = `k`
    InnerJoin: `a` = `x`
      Scan t: a, b
      Scan l: x, k, j
    Scan r: y, j_2 := j, k_2 := k

-- title: not exists
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM l WHERE x = a)
-- expected
Project: a_2 'a' := `a`
  AntiJoin: `x` = `a`
    Scan t: a, b
    Scan l: x, k, j

-- title: exists without a bound
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM r WHERE r.y = t.a LIMIT ALL OFFSET 0)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `y` = `a`
    Scan t: a, b
    Scan r: y, j, k
