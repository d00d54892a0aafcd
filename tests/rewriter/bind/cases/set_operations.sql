-- title: correlation below limit of union
SELECT a FROM t WHERE a IN (SELECT k FROM l WHERE k = t.b UNION ALL SELECT j FROM r LIMIT 1)
-- error
UnsupportedError: LIMIT of DISTINCT or UNION in a subquery that refers to the outer query is not supported at 1:36
  T a FROM t WHERE a IN (SELECT k FROM l WHERE k = t.b UNION A
                                ^
Select an aggregate (MIN, MAX), or limit a derived table.
-- advised
SELECT a FROM t WHERE a = (SELECT min(k) FROM (SELECT k FROM l WHERE k = t.b UNION ALL SELECT j FROM r))

-- title: correlation below union
SELECT a FROM t WHERE EXISTS (SELECT k FROM l WHERE k = t.a UNION SELECT j FROM r)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_5` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Aggregate: by (k_6 'k' := `k_5`, a_2_5 'a_2' := `a_2_4`) compute ()
      UnionAll: k_5 'k', a_2_4 'a_2'
        Project: k_3 'k' := `k_2`, a_2_2 'a_2' := `a_2`
          Filter: `k_2` = `a_2`
            InnerJoin
              Scan l: x_2 := x, k_2 := k, j_2 := j
              [2] OuterValues: a_2 'a' := `a`
                [1] as above
        Project: j_4 'j' := `j_3`, a_2_3 'a_2' := `a_2`
          InnerJoin
            Scan r: y, j_3 := j, k_4 := k
            [2] as above

-- title: except
SELECT a FROM t EXCEPT SELECT x FROM l
-- expected
AntiJoin: `a_3` IS NOT DISTINCT FROM `x_2`
  Aggregate: by (a_3 'a' := `a_2`) compute ()
    Project: a_2 'a' := `a`
      Scan t: a, b
  Project: x_2 'x' := `x`
    Scan l: x, k, j

-- title: except all
SELECT a FROM t
MINUS ALL
SELECT x FROM l
-- expected
BagDifference: a_3 'a'
  Project: a_2 'a' := `a`
    Scan t: a, b
  Project: x_2 'x' := `x`
    Scan l: x, k, j

-- title: except all in dependent subquery
SELECT a FROM t WHERE EXISTS (SELECT x FROM l WHERE l.k = t.a EXCEPT ALL SELECT y FROM r)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_4` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    BagDifference: x_4 'x', a_2_4 'a_2'
      Project: x_3 'x' := `x_2`, a_2_2 'a_2' := `a_2`
        Filter: `k_2` = `a_2`
          InnerJoin
            Scan l: x_2 := x, k_2 := k, j_2 := j
            [2] OuterValues: a_2 'a' := `a`
              [1] as above
      Project: y_2 'y' := `y`, a_2_3 'a_2' := `a_2`
        InnerJoin
          Scan r: y, j_3 := j, k_3 := k
          [2] as above

-- title: in subquery union
SELECT a FROM t WHERE a IN (SELECT x FROM l UNION SELECT y FROM r)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `x_4`
    Scan t: a, b
    Aggregate: by (x_4 'x' := `x_3`) compute ()
      UnionAll: x_3 'x'
        Project: x_2 'x' := `x`
          Scan l: x, k, j
        Project: y_2 'y' := `y`
          Scan r: y, j_2 := j, k_2 := k

-- title: intersect
SELECT a FROM t INTERSECT SELECT x FROM l
-- expected
SemiJoin: `a_3` IS NOT DISTINCT FROM `x_2`
  Aggregate: by (a_3 'a' := `a_2`) compute ()
    Project: a_2 'a' := `a`
      Scan t: a, b
  Project: x_2 'x' := `x`
    Scan l: x, k, j

-- title: intersect all
SELECT a, b FROM t INTERSECT ALL SELECT x, k FROM l
-- expected
BagIntersection: a_3 'a', b_3 'b'
  Project: a_2 'a' := `a`, b_2 'b' := `b`
    Scan t: a, b
  Project: x_2 'x' := `x`, k_2 'k' := `k`
    Scan l: x, k, j

-- title: minus all chain
SELECT a FROM t MINUS ALL SELECT x FROM l EXCEPT ALL SELECT y FROM r
-- expected
BagDifference: a_3 'a'
  Project: a_2 'a' := `a`
    Scan t: a, b
  UnionAll: a_4 'a'
    Project: x_2 'x' := `x`
      Scan l: x, k, j
    Project: y_2 'y' := `y`
      Scan r: y, j_2 := j, k_2 := k

-- title: union all
SELECT a FROM t UNION ALL SELECT x FROM l UNION ALL SELECT y FROM r
-- expected
UnionAll: a_3 'a'
  Project: a_2 'a' := `a`
    Scan t: a, b
  Project: x_2 'x' := `x`
    Scan l: x, k, j
  Project: y_2 'y' := `y`
    Scan r: y, j_2 := j, k_2 := k

-- title: union by name
SELECT a FROM t UNION BY NAME SELECT a FROM nested
-- error
UnsupportedError: UNION BY NAME is not supported at 1:17
  SELECT a FROM t UNION BY NAME SELECT a FROM nested
                  ^^^^^
List the columns in the same order in both queries.
-- advised
SELECT a FROM t UNION SELECT a FROM nested

-- title: union distinct
SELECT a FROM t UNION SELECT x FROM l
-- expected
Aggregate: by (a_4 'a' := `a_3`) compute ()
  UnionAll: a_3 'a'
    Project: a_2 'a' := `a`
      Scan t: a, b
    Project: x_2 'x' := `x`
      Scan l: x, k, j

-- title: union nested
(SELECT a FROM t UNION SELECT x FROM l) UNION ALL (SELECT y FROM r UNION ALL SELECT 1) ORDER BY a
-- expected
Sort: `a_5` ASC NULLS FIRST
  UnionAll: a_5 'a'
    Aggregate: by (a_4 'a' := `a_3`) compute ()
      UnionAll: a_3 'a'
        Project: a_2 'a' := `a`
          Scan t: a, b
        Project: x_2 'x' := `x`
          Scan l: x, k, j
    UnionAll: y_3 'y'
      Project: y_2 'y' := `y`
        Scan r: y, j_2 := j, k_2 := k
      Project: _1 '1' := 1
        OneRow

-- title: union of lengths
SELECT c FROM padded
UNION
SELECT concat(s, '') FROM (SELECT d AS s FROM padded)
-- error
UnsupportedError: UNION of CHAR with a text of another length has no rule at 1:8
  SELECT c FROM padded
         ^
Convert them: CAST(... AS STRING).
-- advised
SELECT CAST(c AS STRING) AS c FROM padded UNION SELECT concat(CAST(s AS STRING), '') FROM (SELECT d AS s FROM padded)

-- title: union of one length
SELECT c FROM padded UNION SELECT c FROM padded WHERE s > d
-- expected
Aggregate: by (c_6 'c' := `c_5`) compute ()
  UnionAll: c_5 'c'
    Project: c_2 'c' := `c`
      Scan padded: c, d, s
    Project: c_4 'c' := `c_3`
      Filter: `s_2` > `d_2`
        Scan padded: c_3 := c, d_2 := d, s_2 := s

-- title: union order by qualified
SELECT a FROM t UNION ALL SELECT x FROM l ORDER BY t.a + 1 DESC LIMIT 3
-- expected
Limit: 3 offset 0
  Sort: `a_3` + 1 DESC NULLS LAST
    UnionAll: a_3 'a'
      Project: a_2 'a' := `a`
        Scan t: a, b
      Project: x_2 'x' := `x`
        Scan l: x, k, j

-- title: union order of branch
SELECT * FROM ((SELECT a FROM t ORDER BY a LIMIT 2) UNION ALL SELECT x FROM l)
-- expected
Project: a_4 'a' := `a_3`
  UnionAll: a_3 'a'
    Limit: 2 offset 0
      Sort: `a_2` ASC NULLS FIRST
        Project: a_2 'a' := `a`
          Scan t: a, b
    Project: x_2 'x' := `x`
      Scan l: x, k, j

-- title: union widths
SELECT a, b FROM t UNION ALL SELECT x FROM l
-- error
QueryError: UNION of queries of 2 and 1 columns at 1:37
   a, b FROM t UNION ALL SELECT x FROM l
                                ^
Select as many columns in each of them.
-- advised
SELECT a, b FROM t UNION ALL SELECT x, k FROM l

-- title: values in union
SELECT a FROM t UNION ALL VALUES (1)
-- expected
UnionAll: a_3 'a'
  Project: a_2 'a' := `a`
    Scan t: a, b
  Project: col1_3 'col1' := `col1_2`
    Project: col1_2 'col1' := `col1`
      Constant VALUES (1, 0): col1, position
