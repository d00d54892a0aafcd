-- title: correlated bitmap
SELECT a, (SELECT bitmap_construct_agg(j) FROM l WHERE l.x = t.a) AS n FROM t
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: bitmap_construct_agg_j_2 of `a` <=> a_2_2
    [1] Scan t: a, b
    Project: bitmap_construct_agg_j_2 'bitmap_construct_agg(j)' := `bitmap_construct_agg_j_2_2`, a_2_2 'a_2' := `a_2_3`
      Aggregate: by (a_2_3 'a_2' := `a_2`) compute (bitmap_construct_agg_j_2_2 'bitmap_construct_agg(j_2)' := BITMAP_CONSTRUCT_AGG(`j_2`) FILTER(WHERE `there`))
        UnionAll: j_2 'j', a_2 'a', there
          Project: j_2 'j' := `j_2`, a_2 'a' := `a_2`, there := TRUE
            Filter: `x_3` = `a_2`
              InnerJoin
                Scan l: x_3 := x, k_2 := k, j_2 := j
                [2] OuterValues: a_2 'a' := `a`
                  [1] as above
          Project: j_2 'j' := NULL, a_2 'a' := `a_2`, there := FALSE
            [2] as above

-- title: correlated collect
SELECT a, (SELECT size(collect_set(j)) FROM l WHERE l.x = t.a) AS n FROM t
-- expected
Project: a_2 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: value of `a` = x_3, else SIZE(ARRAY())
    Scan t: a, b
    Project: value := SIZE(`collect_set_j`), x_3 'x' := `x_2`
      Aggregate: by (x_2 'x' := `x`) compute (collect_set_j 'collect_set(j)' := COLLECT_SET(`j`))
        Scan l: x, k, j

-- title: correlated count
SELECT a, (SELECT count(*) FROM l WHERE l.x = t.a AND l.k > 1) AS n FROM t
-- expected
Project: a_2 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: value of `a` = x_3, else 0
    Scan t: a, b
    Project: value := `count`, x_3 'x' := `x_2`
      Aggregate: by (x_2 'x' := `x`) compute (count 'COUNT(*)' := COUNT(*))
        Filter: `k` > 1
          Scan l: x, k, j

-- title: correlated count having
SELECT a, (SELECT count(*) FROM l WHERE l.k = t.a HAVING count(*) > 1) AS n FROM t WHERE b IN (SELECT y FROM r)
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: count_2 of `a` <=> a_2_2
    [1] SemiJoin: `b` = `y_2`
      Scan t: a, b
      Project: y_2 'y' := `y`
        Scan r: y, j, k
    Project: count_2 'COUNT(*)' := `count_3`, a_2_2 'a_2' := `a_2_3`
      Filter: `count_3` > 1
        Aggregate: by (a_2_3 'a_2' := `a_2`) compute (count_3 'COUNT(*)' := COUNT(*) FILTER(WHERE `there`))
          UnionAll: a_2 'a', there
            Project: a_2 'a' := `a_2`, there := TRUE
              Filter: `k_4` = `a_2`
                InnerJoin
                  Scan l: x_2 := x, k_4 := k, j_3 := j
                  [2] OuterValues: a_2 'a' := `a`
                    [1] as above
            Project: a_2 'a' := `a_2`, there := FALSE
              [2] as above

-- title: correlated derived table
SELECT a, (SELECT count(*) FROM (SELECT x FROM l WHERE l.k = t.a) d) AS n FROM t
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: count of `a` <=> a_2_3
    [1] Scan t: a, b
    Project: count 'COUNT(*)' := `count_2`, a_2_3 'a_2' := `a_2_4`
      Aggregate: by (a_2_4 'a_2' := `a_2`) compute (count_2 'COUNT(*)' := COUNT(*) FILTER(WHERE `there`))
        UnionAll: a_2 'a', there
          Project: a_2 'a' := `a_2`, there := TRUE
            InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
              [2] OuterValues: a_2 'a' := `a`
                [1] as above
              Project: x_5 'x' := `x_4`, a_2_2 'a_2' := `a_2`
                Filter: `k_4` = `a_2`
                  InnerJoin
                    Scan l: x_4 := x, k_4 := k, j_4 := j
                    [2] as above
          Project: a_2 'a' := `a_2`, there := FALSE
            [2] as above

-- title: correlated derived table exists
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM (SELECT * FROM l WHERE x > t.a) AS z)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_3` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1 '1' := 1, a_2_3 'a_2' := `a_2`
      InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
        [2] OuterValues: a_2 'a' := `a`
          [1] as above
        Project: x_5 'x' := `x_4`, k_5 'k' := `k_4`, j_5 'j' := `j_4`, a_2_2 'a_2' := `a_2`
          Filter: `x_4` > `a_2`
            InnerJoin
              Scan l: x_4 := x, k_4 := k, j_4 := j
              [2] as above

-- title: correlated derived tables joined
SELECT a, (SELECT count(*) FROM (SELECT * FROM l WHERE l.x = t.a) v JOIN (SELECT * FROM r WHERE r.y > t.b) w USING (k)) AS n FROM t
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: count of `a` <=> a_2_4, `b` <=> b_2_4
    [1] Scan t: a, b
    Project: count 'COUNT(*)' := `count_2`, a_2_4 'a_2' := `a_2_5`, b_2_4 'b_2' := `b_2_5`
      Aggregate: by (a_2_5 'a_2' := `a_2`, b_2_5 'b_2' := `b_2`) compute (count_2 'COUNT(*)' := COUNT(*) FILTER(WHERE `there`))
        UnionAll: a_2 'a', b_2 'b', there
          Project: a_2 'a' := `a_2`, b_2 'b' := `b_2`, there := TRUE
            InnerJoin: `a_2_3` IS NOT DISTINCT FROM `a_2` AND `b_2_3` IS NOT DISTINCT FROM `b_2` AND `k_5` = `k_8`
              InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2` AND `b_2_2` IS NOT DISTINCT FROM `b_2`
                [2] OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
                  [1] as above
                Project: x_5 'x' := `x_4`, k_5 'k' := `k_4`, j_5 'j' := `j_4`, a_2_2 'a_2' := `a_2`, b_2_2 'b_2' := `b_2`
                  Filter: `x_4` = `a_2`
                    InnerJoin
                      Scan l: x_4 := x, k_4 := k, j_4 := j
                      [2] as above
              Project: y_3 'y' := `y_2`, j_8 'j' := `j_7`, k_8 'k' := `k_7`, a_2_3 'a_2' := `a_2`, b_2_3 'b_2' := `b_2`
                Filter: `y_2` > `b_2`
                  InnerJoin
                    Scan r: y_2 := y, j_7 := j, k_7 := k
                    [2] as above
          Project: a_2 'a' := `a_2`, b_2 'b' := `b_2`, there := FALSE
            [2] as above

-- title: correlated first in brackets
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l JOIN ((SELECT * FROM r WHERE r.y = t.a) w JOIN r ON r.k = w.k) ON l.k = r.k)
-- error
CorrelationError: this join of a relation that refers to the outer query is not supported at 1:94
  ROM r WHERE r.y = t.a) w JOIN r ON r.k = w.k) ON l.k = r.k)
                                ^
Write the subquery as a join with the outer query's relation.
-- advised
SELECT DISTINCT t.a FROM t JOIN r w ON w.y = t.a JOIN r ON r.k = w.k JOIN l ON l.k = r.k

-- title: correlated in brackets
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l JOIN (r LEFT JOIN (SELECT * FROM l WHERE l.x = t.a) w ON r.k = w.k) ON l.k = r.k)
-- error
CorrelationError: this join of a relation that refers to the outer query is not supported at 1:73
  M l JOIN (r LEFT JOIN (SELECT * FROM l WHERE l.x = t.a) w ON
                                ^
Write the subquery as a join with the outer query's relation.
-- advised
SELECT DISTINCT t.a FROM t JOIN l ON TRUE JOIN r ON l.k = r.k

-- title: correlated left join on
SELECT a, (SELECT count(r.y) FROM l LEFT JOIN r ON l.k = r.k AND r.y = t.a) AS n FROM t
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: count_r_y of `a` <=> a_2_2
    [1] Scan t: a, b
    Project: count_r_y 'COUNT(r.y)' := `count_y_3`, a_2_2 'a_2' := `a_2_3`
      Aggregate: by (a_2_3 'a_2' := `a_2`) compute (count_y_3 'COUNT(y_3)' := COUNT(`y_3`) FILTER(WHERE `there`))
        UnionAll: a_2 'a', y_3 'y', there
          Project: a_2 'a' := `a_2`, y_3 'y' := `y_3`, there := TRUE
            LeftOuterJoin: `k_5` = `k_6` AND `y_3` = `a_2`
              InnerJoin
                [2] OuterValues: a_2 'a' := `a`
                  [1] as above
                Scan l: x_3 := x, k_5 := k, j_5 := j
              Scan r: y_3 := y, j_6 := j, k_6 := k
          Project: a_2 'a' := `a_2`, y_3 'y' := NULL, there := FALSE
            [2] as above

-- title: correlated named query
SELECT a FROM t WHERE EXISTS (WITH w(z) AS (SELECT x FROM l WHERE l.k = t.a) SELECT 1 FROM w WHERE z > 1)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_3` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1 '1' := 1, a_2_3 'a_2' := `a_2`
      Filter: `x_5` > 1
        InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
          [2] OuterValues: a_2 'a' := `a`
            [1] as above
          Project: x_5 'x' := `x_4`, a_2_2 'a_2' := `a_2`
            Filter: `k_4` = `a_2`
              InnerJoin
                Scan l: x_4 := x, k_4 := k, j_4 := j
                [2] as above

-- title: correlated on
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l JOIN r ON l.k = r.k AND r.y = t.a)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1 '1' := 1, a_2_2 'a_2' := `a_2`
      InnerJoin: `k_5` = `k_6` AND `y_3` = `a_2`
        InnerJoin
          OuterValues: a_2 'a' := `a`
            [1] as above
          Scan l: x_3 := x, k_5 := k, j_5 := j
        Scan r: y_3 := y, j_6 := j, k_6 := k

-- title: correlated right join
SELECT a FROM t WHERE EXISTS (SELECT * FROM l RIGHT JOIN (SELECT * FROM r WHERE r.y = t.a) AS s ON l.k = s.k LEFT JOIN t AS u ON u.b = s.j)
-- expected
Project: a_5 'a' := `a`
  SemiJoin: `a_2_3` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: x_4 'x' := `x_3`, k_9 'k' := `k_5`, j_9 'j' := `j_5`, y_6 'y' := `y_5`, j_10 'j' := `j_8`, k_10 'k' := `k_8`, a_4 'a' := `a_3`, b_4 'b' := `b_3`, a_2_3 'a_2' := `a_2`
      LeftOuterJoin: `b_3` = `j_8`
        RightOuterJoin: `k_5` = `k_8`
          Scan l: x_3 := x, k_5 := k, j_5 := j
          InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
            [2] OuterValues: a_2 'a' := `a`
              [1] as above
            Project: y_5 'y' := `y_4`, j_8 'j' := `j_7`, k_8 'k' := `k_7`, a_2_2 'a_2' := `a_2`
              Filter: `y_4` = `a_2`
                InnerJoin
                  Scan r: y_4 := y, j_7 := j, k_7 := k
                  [2] as above
        Scan t: a_3 := a, b_3 := b

-- title: correlated on of right join
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l RIGHT JOIN r ON l.k = r.k AND l.x = t.a)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1 '1' := 1, a_2_2 'a_2' := `a_2`
      RightOuterJoin: `k_5` = `k_6` AND `x_3` = `a_2`
        Scan l: x_3 := x, k_5 := k, j_5 := j
        InnerJoin
          OuterValues: a_2 'a' := `a`
            [1] as above
          Scan r: y_3 := y, j_6 := j, k_6 := k

-- title: correlated on of full join
SELECT a FROM t WHERE EXISTS (SELECT * FROM l FULL JOIN r ON l.x = t.a)
-- error
CorrelationError: ON of a subquery that refers to column t.a of the outer query is not supported at 1:68
  * FROM l FULL JOIN r ON l.x = t.a)
                                ^
Write the subquery as a join with the outer query's relation.
-- advised
SELECT DISTINCT t.a FROM t CROSS JOIN l FULL JOIN r ON l.x = t.a

-- title: correlated scalar inequality
SELECT a FROM t WHERE b = (SELECT max(k) FROM l WHERE l.x > t.a)
-- expected
Project: a_3 'a' := `a`
  Filter: `b` = `subquery`
    CorrelatedScalar subquery: max_k_2 of `a` <=> a_2_2
      [1] Scan t: a, b
      Project: max_k_2 'max(k)' := `max_k_2_2`, a_2_2 'a_2' := `a_2_3`
        Aggregate: by (a_2_3 'a_2' := `a_2`) compute (max_k_2_2 'max(k_2)' := MAX(`k_2`) FILTER(WHERE `there`))
          UnionAll: k_2 'k', a_2 'a', there
            Project: k_2 'k' := `k_2`, a_2 'a' := `a_2`, there := TRUE
              Filter: `x_2` > `a_2`
                InnerJoin
                  Scan l: x_2 := x, k_2 := k, j_2 := j
                  [2] OuterValues: a_2 'a' := `a`
                    [1] as above
            Project: k_2 'k' := NULL, a_2 'a' := `a_2`, there := FALSE
              [2] as above

-- title: correlated scalar of rows
SELECT a FROM t WHERE b = (SELECT k FROM l WHERE l.x = t.a)
-- expected
Project: a_3 'a' := `a`
  Filter: `b` = `subquery`
    CorrelatedScalar subquery: k_4 of `a` <=> a_2_3
      [1] Scan t: a, b
      Aggregate: by (a_2_3 'a_2' := `a_2_2`) compute (k_4 'k' := MAX(`k_3`), rows := COUNT(*))
        Project: k_3 'k' := `k_2`, a_2_2 'a_2' := `a_2`
          Filter: `x_2` = `a_2`
            InnerJoin
              Scan l: x_2 := x, k_2 := k, j_2 := j
              OuterValues: a_2 'a' := `a`
                [1] as above

-- title: correlated scalar subquery
SELECT a FROM t WHERE b = (SELECT max(k) FROM l WHERE x = t.a)
-- expected
Project: a_2 'a' := `a`
  Filter: `b` = `subquery`
    CorrelatedScalar subquery: value of `a` = x_3
      Scan t: a, b
      Project: value := `max_k`, x_3 'x' := `x_2`
        Aggregate: by (x_2 'x' := `x`) compute (max_k 'max(k)' := MAX(`k`))
          Scan l: x, k, j

-- title: correlated sketch
SELECT a, (SELECT count_min_sketch(j, 0.5D, 0.5D, 1) FROM l WHERE l.x = t.a) AS n FROM t
-- expected
Project: a_3 'a' := `a`, n := `subquery`
  CorrelatedScalar subquery: count_min_sketch_j_0_5d_0_5d_1_2 of `a` <=> a_2_2
    [1] Scan t: a, b
    Project: count_min_sketch_j_0_5d_0_5d_1_2 'count_min_sketch(j, 0.5D, 0.5D, 1)' := `count_min_sketch_j_2_0_5d_0_5d_1`, a_2_2 'a_2' := `a_2_3`
      Aggregate: by (a_2_3 'a_2' := `a_2`) compute (count_min_sketch_j_2_0_5d_0_5d_1 'count_min_sketch(j_2, 0.5D, 0.5D, 1)' := COUNT_MIN_SKETCH(`j_2`, 0.5D, 0.5D, 1) FILTER(WHERE `there`))
        UnionAll: j_2 'j', a_2 'a', there
          Project: j_2 'j' := `j_2`, a_2 'a' := `a_2`, there := TRUE
            Filter: `x_3` = `a_2`
              InnerJoin
                Scan l: x_3 := x, k_2 := k, j_2 := j
                [2] OuterValues: a_2 'a' := `a`
                  [1] as above
          Project: j_2 'j' := NULL, a_2 'a' := `a_2`, there := FALSE
            [2] as above

-- title: correlation below aggregate
SELECT a FROM t WHERE EXISTS (SELECT count(*) FROM l WHERE k = t.b)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: count 'COUNT(*)' := `count_2`, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (b_2_3 'b_2' := `b_2`) compute (count_2 'COUNT(*)' := COUNT(*) FILTER(WHERE `there`))
        UnionAll: b_2 'b', there
          Project: b_2 'b' := `b_2`, there := TRUE
            Filter: `k_2` = `b_2`
              InnerJoin
                Scan l: x_2 := x, k_2 := k, j_2 := j
                [2] OuterValues: b_2 'b' := `b`
                  [1] as above
          Project: b_2 'b' := `b_2`, there := FALSE
            [2] as above

-- title: correlation below group by all
SELECT a FROM t WHERE a IN (SELECT max(x) FROM l WHERE k = t.b GROUP BY ALL)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a` = `max_x` AND `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: max_x 'max(x)' := `max_x_2`, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (b_2_3 'b_2' := `b_2`) compute (max_x_2 'max(x_2)' := MAX(`x_2`) FILTER(WHERE `there`))
        UnionAll: x_2 'x', b_2 'b', there
          Project: x_2 'x' := `x_2`, b_2 'b' := `b_2`, there := TRUE
            Filter: `k_2` = `b_2`
              InnerJoin
                Scan l: x_2 := x, k_2 := k, j_2 := j
                [2] OuterValues: b_2 'b' := `b`
                  [1] as above
          Project: x_2 'x' := NULL, b_2 'b' := `b_2`, there := FALSE
            [2] as above

-- title: correlation below having
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l WHERE k = t.b HAVING max(x) > 1)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: _1 '1' := 1, b_2_2 'b_2' := `b_2_3`
      Filter: `max_x_2` > 1
        Aggregate: by (b_2_3 'b_2' := `b_2`) compute (max_x_2 'max(x_2)' := MAX(`x_2`) FILTER(WHERE `there`))
          UnionAll: x_2 'x', b_2 'b', there
            Project: x_2 'x' := `x_2`, b_2 'b' := `b_2`, there := TRUE
              Filter: `k_2` = `b_2`
                InnerJoin
                  Scan l: x_2 := x, k_2 := k, j_2 := j
                  [2] OuterValues: b_2 'b' := `b`
                    [1] as above
            Project: x_2 'x' := NULL, b_2 'b' := `b_2`, there := FALSE
              [2] as above

-- title: correlation below limit
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l WHERE k = t.b ORDER BY x LIMIT 1)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k` = `b`
    Scan t: a, b
    Scan l: x, k, j

-- title: correlation below limit of position
SELECT a FROM t WHERE a IN (SELECT k FROM l WHERE x > t.b ORDER BY 1 LIMIT 1)
-- error
UnsupportedError: a position in ORDER BY of a subquery that refers to the outer query is not supported at 1:68
  FROM l WHERE x > t.b ORDER BY 1 LIMIT 1)
                                ^
Write the expressions to order by.
-- advised
SELECT a FROM t WHERE a IN (SELECT k FROM l WHERE x > t.b ORDER BY k LIMIT 1)

-- title: correlation in group by
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l GROUP BY k + t.b)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: _1_2 '1' := 1, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (k_t_b 'k + t.b' := `k_2` + `b_2`, b_2_3 'b_2' := `b_2`) compute ()
        InnerJoin
          Scan l: x_2 := x, k_2 := k, j_2 := j
          OuterValues: b_2 'b' := `b`
            [1] as above

-- title: correlation in having
SELECT a FROM t WHERE EXISTS (SELECT k FROM l GROUP BY k HAVING sum(x) > t.b)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: k_5 'k' := `k_6`, b_2_2 'b_2' := `b_2_3`
      Filter: `sum_x_2` > `b_2_3`
        Aggregate: by (k_6 'k' := `k_4`, b_2_3 'b_2' := `b_2`) compute (sum_x_2 'SUM(x_2)' := SUM(`x_2`))
          InnerJoin
            Scan l: x_2 := x, k_4 := k, j_2 := j
            OuterValues: b_2 'b' := `b`
              [1] as above

-- title: correlation in select list
SELECT a FROM t WHERE a IN (SELECT x + t.b FROM l)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a` = `x_t_b` AND `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: x_t_b 'x + t.b' := `x_2` + `b_2`, b_2_2 'b_2' := `b_2`
      InnerJoin
        Scan l: x_2 := x, k_2 := k, j_2 := j
        OuterValues: b_2 'b' := `b`
          [1] as above

-- title: correlation not an equality
SELECT a FROM t WHERE EXISTS (SELECT k FROM l WHERE k = t.a AND x < t.b GROUP BY k)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a` AND `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: k_4 'k' := `k_5`, a_2_2 'a_2' := `a_2_3`, b_2_2 'b_2' := `b_2_3`
      Aggregate: by (k_5 'k' := `k_3`, a_2_3 'a_2' := `a_2`, b_2_3 'b_2' := `b_2`) compute ()
        Filter: `k_3` = `a_2` AND `x_2` < `b_2`
          InnerJoin
            Scan l: x_2 := x, k_3 := k, j_2 := j
            OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
              [1] as above

-- title: correlation of both sides
SELECT a FROM t WHERE EXISTS (SELECT k FROM l WHERE k + t.a = 3 GROUP BY k)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: k_4 'k' := `k_5`, a_2_2 'a_2' := `a_2_3`
      Aggregate: by (k_5 'k' := `k_3`, a_2_3 'a_2' := `a_2`) compute ()
        Filter: `k_3` + `a_2` = 3
          InnerJoin
            Scan l: x_2 := x, k_3 := k, j_2 := j
            OuterValues: a_2 'a' := `a`
              [1] as above

-- title: correlation two levels in
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM l WHERE t.a IN (SELECT y FROM r))
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: _1 '1' := 1, a_2_2 'a_2' := `a_2`
      SemiJoin: `a_2` = `y_4`
        InnerJoin
          Scan l: x_2 := x, k_3 := k, j_3 := j
          OuterValues: a_2 'a' := `a`
            [1] as above
        Project: y_4 'y' := `y_3`
          Scan r: y_3 := y, j_4 := j, k_4 := k

-- title: exists distinct correlated
SELECT a FROM t WHERE EXISTS (SELECT DISTINCT x FROM l WHERE k = t.b)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `k` = `b`
    Scan t: a, b
    Scan l: x, k, j

-- title: in subquery correlated
SELECT a FROM t WHERE a IN (SELECT x + 1 FROM l WHERE l.k = t.b AND j > 0)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = (`x` + 1) AND `k` = `b`
    Scan t: a, b
    Filter: `j` > 0
      Scan l: x, k, j

-- title: in subquery distinct correlated
SELECT a FROM t WHERE a IN (SELECT DISTINCT x FROM l WHERE k = t.b)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `x` AND `k` = `b`
    Scan t: a, b
    Scan l: x, k, j

-- title: in subquery grouped correlated
SELECT a FROM t WHERE a IN (SELECT k FROM l WHERE j = t.b GROUP BY k HAVING count(*) >= 1)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `k_2` AND `j_2` = `b`
    Scan t: a, b
    Filter: `count` >= 1
      Aggregate: by (k_2 'k' := `k`, j_2 'j' := `j`) compute (count 'COUNT(*)' := COUNT(*))
        Scan l: x, k, j

-- title: in subquery of aggregate correlated
SELECT a FROM t WHERE a IN (SELECT max(x) FROM l WHERE k = t.b GROUP BY k)
-- expected
Project: a_2 'a' := `a`
  SemiJoin: `a` = `max_x` AND `k_2` = `b`
    Scan t: a, b
    Aggregate: by (k_2 'k' := `k`) compute (max_x 'max(x)' := MAX(`x`))
      Scan l: x, k, j

-- title: limit in correlated subquery
SELECT a FROM t WHERE a IN (SELECT k FROM l WHERE x = t.b LIMIT 1)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a` = `k_4` AND `b_2_3` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: k_4 'k' := `k_3`, b_2_3 'b_2' := `b_2_2`
      Filter: `row_number_2` <= 1
        Project: k_3 'k' := `k_2`, b_2_2 'b_2' := `b_2`, row_number_2 'row_number' := `row_number`
          Windows: row_number := ROW_NUMBER() OVER (PARTITION BY `b_2` ORDER BY NULL)
            Filter: `x_2` = `b_2`
              InnerJoin
                Scan l: x_2 := x, k_2 := k, j_2 := j
                OuterValues: b_2 'b' := `b`
                  [1] as above

-- title: pipe correlated
SELECT a FROM t WHERE EXISTS (FROM r |> WHERE r.y = t.a)
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a_2_2` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: y_3 'y' := `y_2`, j_3 'j' := `j_2`, k_3 'k' := `k_2`, a_2_2 'a_2' := `a_2`
      Filter: `y_2` = `a_2`
        InnerJoin
          Scan r: y_2 := y, j_2 := j, k_2 := k
          OuterValues: a_2 'a' := `a`
            [1] as above

-- title: pipe correlated aggregate
SELECT a, (FROM r |> WHERE y = t.a |> EXTEND k + 1 AS m |> AGGREGATE max(m) AS m) AS m FROM t
-- expected
Project: a_3 'a' := `a`, m_4 'm' := `subquery`
  CorrelatedScalar subquery: m_3 of `a` <=> a_2_5
    [1] Scan t: a, b
    Aggregate: by (a_2_5 'a_2' := `a_2_3`) compute (m_3 'm' := MAX(`m_2`), rows := COUNT(*))
      Project: m_2 'm' := `max_m`, a_2_3 'a_2' := `a_2_4`
        Aggregate: by (a_2_4 'a_2' := `a_2`) compute (max_m 'max(m)' := MAX(`m`) FILTER(WHERE `there`))
          UnionAll: a_2 'a', m, there
            Project: a_2 'a' := `a_2`, m := `m`, there := TRUE
              InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
                [2] OuterValues: a_2 'a' := `a`
                  [1] as above
                Project: y_5 'y' := `y_4`, j_5 'j' := `j_4`, k_5 'k' := `k_4`, m := `k_4` + 1, a_2_2 'a_2' := `a_2`
                  Filter: `y_4` = `a_2`
                    InnerJoin
                      Scan r: y_4 := y, j_4 := j, k_4 := k
                      [2] as above
            Project: a_2 'a' := `a_2`, m := NULL, there := FALSE
              [2] as above

-- title: pipe correlated limit
SELECT * FROM t, LATERAL (FROM r |> WHERE r.y = t.a |> JOIN l ON l.k = r.k |> SELECT l.x AS z |> ORDER BY z |> LIMIT 1)
-- expected
Project: a_3 'a' := `a`, b_3 'b' := `b`, z_4 'z' := `z_3`
  InnerJoin: `a_2_5` IS NOT DISTINCT FROM `a`
    [1] Scan t: a, b
    Project: z_3 'z' := `z_2`, a_2_5 'a_2' := `a_2_4`
      Filter: `row_number_2` <= 1
        Project: z_2 'z' := `z`, a_2_4 'a_2' := `a_2`, row_number_2 'row_number' := `row_number`
          Windows: row_number := ROW_NUMBER() OVER (PARTITION BY `a_2` ORDER BY `z`)
            InnerJoin: `a_2_3` IS NOT DISTINCT FROM `a_2`
              [2] OuterValues: a_2 'a' := `a`
                [1] as above
              Project: z := `x`, a_2_3 'a_2' := `a_2`
                InnerJoin: `k_8` = `k_7`
                  InnerJoin: `a_2_2` IS NOT DISTINCT FROM `a_2`
                    [2] as above
                    Project: y_7 'y' := `y_6`, j_7 'j' := `j_6`, k_7 'k' := `k_6`, a_2_2 'a_2' := `a_2`
                      Filter: `y_6` = `a_2`
                        InnerJoin
                          Scan r: y_6 := y, j_6 := j, k_6 := k
                          [2] as above
                  Scan l: x, k_8 := k, j_8 := j

-- title: pipe correlated set operation
SELECT a FROM t WHERE a IN (FROM r |> AS s |> WHERE s.y = t.b |> SELECT j |> EXCEPT ALL (FROM l |> WHERE l.k = t.a |> SELECT x))
-- expected
Project: a_3 'a' := `a`
  SemiJoin: `a` = `j_6` AND `a_2_4` IS NOT DISTINCT FROM `a` AND `b_2_4` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    BagDifference: j_6 'j', a_2_4 'a_2', b_2_4 'b_2'
      Project: j_4 'j' := `j_3`, a_2_2 'a_2' := `a_2`, b_2_2 'b_2' := `b_2`
        Filter: `y_3` = `b_2`
          InnerJoin
            Project: y_3 'y' := `y_2`, j_3 'j' := `j_2`, k_3 'k' := `k_2`
              Scan r: y_2 := y, j_2 := j, k_2 := k
            [2] OuterValues: a_2 'a' := `a`, b_2 'b' := `b`
              [1] as above
      Project: x_2 'x' := `x`, a_2_3 'a_2' := `a_2`, b_2_3 'b_2' := `b_2`
        Filter: `k_4` = `a_2`
          InnerJoin
            Scan l: x, k_4 := k, j_5 := j
            [2] as above

-- title: pipe correlated lost qualifier
SELECT a FROM t WHERE EXISTS (FROM r |> EXTEND k + 1 AS m |> WHERE r.y = t.a)
-- error
UnsupportedError: this operator in a subquery that refers to the outer query is not supported at 1:59
   (FROM r |> EXTEND k + 1 AS m |> WHERE r.y = t.a)
                                ^^
Write the subquery as a SELECT.
-- advised
SELECT a FROM t WHERE EXISTS (SELECT *, k + 1 AS m FROM r WHERE r.y = t.a)

-- title: pipe correlated name of the outer relation
SELECT a FROM t WHERE EXISTS (FROM (SELECT x AS a, k FROM l) |> WHERE a > 1 |> WHERE t.b = k)
-- expected
Project: a_7 'a' := `a`
  SemiJoin: `b_2_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: a_6 'a' := `a_5`, k_6 'k' := `k_5`, b_2_2 'b_2' := `b_2`
      Filter: `b_2` = `k_5`
        InnerJoin
          Project: a_5 'a' := `a_4`, k_5 'k' := `k_4`
            Filter: `a_4` > 1
              Project: a_4 'a' := `x_2`, k_4 'k' := `k_3`
                Scan l: x_2 := x, k_3 := k, j_2 := j
          OuterValues: b_2 'b' := `b`
            [1] as above

-- title: pipe correlated name within a derived table
SELECT a FROM t WHERE EXISTS (FROM (SELECT * FROM t) |> WHERE a > 1 |> WHERE t.b = a)
-- expected
Project: a_9 'a' := `a`
  SemiJoin: `b_4_2` IS NOT DISTINCT FROM `b`
    [1] Scan t: a, b
    Project: a_8 'a' := `a_7`, b_8 'b' := `b_7`, b_4_2 'b_4' := `b_4`
      Filter: `b_4` = `a_7`
        InnerJoin
          Project: a_7 'a' := `a_6`, b_7 'b' := `b_6`
            Filter: `a_6` > 1
              Project: a_6 'a' := `a_5`, b_6 'b' := `b_5`
                Scan t: a_5 := a, b_5 := b
          OuterValues: b_4 'b' := `b`
            [1] as above

-- title: pipe correlated qualifier after a join
SELECT a FROM t WHERE EXISTS (FROM r JOIN l ON r.k = l.k |> WHERE l.x = t.a |> WHERE r.y = t.b)
-- error
UnsupportedError: this operator in a subquery that refers to the outer query is not supported at 1:77
   r.k = l.k |> WHERE l.x = t.a |> WHERE r.y = t.b)
                                ^^
Write the subquery as a SELECT.
-- advised
SELECT a FROM t WHERE EXISTS (SELECT * FROM r JOIN l ON r.k = l.k WHERE l.x = t.a AND r.y = t.b)

-- title: pipe correlated set
SELECT a FROM t WHERE EXISTS (FROM r |> WHERE r.y = t.a |> SET k = 1)
-- error
UnsupportedError: this operator in a subquery that refers to the outer query is not supported at 1:57
  TS (FROM r |> WHERE r.y = t.a |> SET k = 1)
                                ^^
Write the subquery as a SELECT.
-- advised
SELECT a FROM t WHERE EXISTS (SELECT y, j, 1 AS k FROM r WHERE r.y = t.a)

-- title: pipe correlated limit after order
SELECT * FROM t, LATERAL (FROM r |> WHERE r.y = t.a |> ORDER BY k |> EXTEND k + 1 AS m |> LIMIT 1)
-- error
UnsupportedError: this operator in a subquery that refers to the outer query is not supported at 1:88
  DER BY k |> EXTEND k + 1 AS m |> LIMIT 1)
                                ^^
Write the subquery as a SELECT.
-- advised
SELECT * FROM t, LATERAL (SELECT *, k + 1 AS m FROM r WHERE r.y = t.a ORDER BY k LIMIT 1)

-- title: scalar subquery of two columns correlated
SELECT a, (SELECT max(x), min(x) FROM l WHERE l.k = t.a) AS m FROM t
-- error
QueryError: a scalar subquery has one column, not 2 at 1:19
  SELECT a, (SELECT max(x), min(x) FROM l WHERE l.k = t.a) AS 
                    ^^^
Select the column that is meant.
-- advised
SELECT a, (SELECT max(x) FROM l WHERE l.k = t.a) AS m FROM t

-- title: subquery two levels out
SELECT a, (SELECT max(x) FROM l WHERE l.k = (SELECT count(*) FROM r WHERE r.j = l.j AND r.k = t.a)) AS m FROM t
-- expected
Project: a_3 'a' := `a`, m := `subquery_3`
  CorrelatedScalar subquery_3: max_x of `a` <=> a_2_2
    [1] Scan t: a, b
    Project: max_x 'max(x)' := `max_x_2`, a_2_2 'a_2' := `a_2_3`
      Aggregate: by (a_2_3 'a_2' := `a_2`) compute (max_x_2 'max(x_2)' := MAX(`x_2`) FILTER(WHERE `there`))
        UnionAll: x_2 'x', a_2 'a', there
          Project: x_2 'x' := `x_2`, a_2 'a' := `a_2`, there := TRUE
            Filter: `k_5` = `subquery_2`
              CorrelatedScalar subquery_2: value_2 of `j_5` = j_8, `a_2` = k_8, else 0
                InnerJoin
                  Scan l: x_2 := x, k_5 := k, j_5 := j
                  [2] OuterValues: a_2 'a' := `a`
                    [1] as above
                Project: value_2 'value' := `count_2`, j_8 'j' := `j_7`, k_8 'k' := `k_7`
                  Aggregate: by (j_7 'j' := `j_6`, k_7 'k' := `k_6`) compute (count_2 'COUNT(*)' := COUNT(*))
                    Scan r: y_2 := y, j_6 := j, k_6 := k
          Project: x_2 'x' := NULL, a_2 'a' := `a_2`, there := FALSE
            [2] as above

-- title: aggregate of the group around a subquery of having
SELECT a FROM t GROUP BY a HAVING EXISTS (SELECT 1 FROM l WHERE x > max(t.b))
-- expected
Project: a_2 'a' := `a_3`
  SemiJoin: `x` > `max_b`
    Aggregate: by (a_3 'a' := `a`) compute (max_b 'max(b)' := MAX(`b`))
      Scan t: a, b
    Scan l: x, k, j

-- title: aggregate of the group around a subquery that is computed for each value
SELECT a FROM t GROUP BY a HAVING sum(b) > (SELECT max(x) FROM l WHERE x > max(t.b))
-- error
UnsupportedError: aggregate max of the query around this subquery is not supported at 1:76
  ELECT max(x) FROM l WHERE x > max(t.b))
                                ^^^
Group in a derived table, and compare its column in WHERE.
-- advised
SELECT a FROM (SELECT a, sum(b) AS s, max(b) AS m FROM t GROUP BY a) AS g WHERE s > (SELECT max(x) FROM l WHERE x > m)
