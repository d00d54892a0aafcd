-- title: aggregate that draws
SELECT kll_sketch_agg_bigint(price) FILTER (WHERE price > 1) AS s FROM cars
-- error
UnsupportedError: aggregate kll_sketch_agg_bigint, which draws random numbers, is not supported at 1:8
  SELECT kll_sketch_agg_bigint(price) FILTER (WHERE price > 1)
         ^^^^^^^^^^^^^^^^^^^^^
Use percentile, or approx_percentile.
-- advised
SELECT approx_percentile(price, 0.5) FILTER (WHERE price > 1) AS s FROM cars

-- title: bare localtimestamp
SELECT a, localtimestamp FROM t
-- error
UnsupportedError: localtimestamp without brackets is not supported at 1:11
  SELECT a, localtimestamp FROM t
            ^^^^^^^^^^^^^^
Write localtimestamp().
-- advised
SELECT a, localtimestamp() FROM t

-- title: cast of now
SELECT a FROM t WHERE CAST(' now' AS TIMESTAMP) > DATE '2020-01-01'
-- error
UnsupportedError: ' now' as a time is not supported at 1:28
  SELECT a FROM t WHERE CAST(' now' AS TIMESTAMP) > DATE '2020
                             ^^^^^^
Use now(), current_date() and intervals.
-- advised
SELECT a FROM t WHERE now() > DATE '2020-01-01'

-- title: date of today
SELECT a, date 'today' AS d FROM t
-- error
UnsupportedError: 'today' as a time is not supported at 1:16
  SELECT a, date 'today' AS d FROM t
                 ^^^^^^^
Use now(), current_date() and intervals.
-- advised
SELECT a, current_date() AS d FROM t

-- title: draw as key
SELECT rand() < 0.5 AS half, count(*) AS n FROM t GROUP BY half
-- expected
Project: half := `half_2`, n := `count`
  Aggregate: by (half_2 'half' := `drawn` < 0.5) compute (count 'COUNT(*)' := COUNT(*))
    Draw: drawn := RAND()
      Scan t: a, b

-- title: draw in aggregate
SELECT sum(rand()) FROM t
-- error
UnsupportedError: function rand, which is not deterministic, is not supported here at 1:12
  SELECT sum(rand()) FROM t
             ^^^^
Compute it in the select list of a derived table.
-- advised
SELECT sum(x) FROM (SELECT rand() AS x FROM t)

-- title: draw in clauses
SELECT a, rand() AS r, r + uuid() AS s FROM t WHERE rand(3) < 0.5 ORDER BY randn(), a
-- expected
Project: a_3 'a' := `a_2`, r_2 'r' := `r`, s_2 's' := `s`
  Sort: `drawn_5` ASC NULLS FIRST, `a_2` ASC NULLS FIRST
    Project: a_2 'a' := `a`, r := `drawn_2`, s := `drawn_2` + `drawn_3`, drawn_5 'drawn' := `drawn_4`
      Draw: drawn_2 'drawn' := RAND(), drawn_3 'drawn' := UUID(), drawn_4 'drawn' := RANDN()
        Filter: `drawn` < 0.5
          Draw: drawn := RAND(3)
            Scan t: a, b

-- title: draw in generator
SELECT explode(shuffle(arr)) FROM nested
-- error
UnsupportedError: function shuffle, which is not deterministic, is not supported here at 1:16
  SELECT explode(shuffle(arr)) FROM nested
                 ^^^^^^^
Compute it in the select list of a derived table.
-- advised
SELECT explode(s) FROM (SELECT shuffle(arr) AS s FROM nested)

-- title: draw in lambda
SELECT transform(arr, e -> e + rand()) FROM nested
-- error
UnsupportedError: function rand, which is not deterministic, is not supported here at 1:32
  ELECT transform(arr, e -> e + rand()) FROM nested
                                ^^^^
Compute it in the select list of a derived table.
-- advised
SELECT transform(arr, e -> x) FROM (SELECT arr, rand() AS x FROM nested)

-- title: draw in lateral view
SELECT e FROM nested LATERAL VIEW explode(shuffle(arr)) g AS e
-- error
UnsupportedError: function shuffle, which is not deterministic, is not supported here at 1:43
  M nested LATERAL VIEW explode(shuffle(arr)) g AS e
                                ^^^^^^^
Compute it in the select list of a derived table.
-- advised
SELECT e FROM (SELECT shuffle(arr) AS s FROM nested) LATERAL VIEW explode(s) g AS e

-- title: draw in on
SELECT t.a FROM t JOIN l ON a = x AND rand() < 0.5
-- error
UnsupportedError: function rand, which is not deterministic, is not supported here at 1:39
  .a FROM t JOIN l ON a = x AND rand() < 0.5
                                ^^^^
Compute it in the select list of a derived table.
-- advised
SELECT t.a FROM (SELECT a, rand() AS d FROM t) t JOIN l ON a = x AND d < 0.5

-- title: draw in values
SELECT * FROM VALUES (rand()) AS v(a)
-- error
UnsupportedError: function rand, which is not deterministic, is not supported here at 1:23
  SELECT * FROM VALUES (rand()) AS v(a)
                        ^^^^
Compute it in the select list of a derived table.
-- advised
SELECT rand() AS a FROM t

-- title: draw of columns
SELECT shuffle(array(a, b)) AS v, row_number() OVER (ORDER BY rand()) AS n FROM t
-- expected
Project: v := `drawn`, n := `row_number`
  Draw: drawn := SHUFFLE(ARRAY(`a`, `b`))
    Windows: row_number := ROW_NUMBER() OVER (ORDER BY `drawn_2`)
      Draw: drawn_2 'drawn' := RAND()
        Scan t: a, b

-- title: draw of groups
SELECT a, sum(b) AS s, uniform(0, 9) AS u FROM t GROUP BY a HAVING rand() > 0.5
-- expected
Project: a_2 'a' := `a_3`, s := `sum_b`, u := `drawn`
  Draw: drawn := UNIFORM(0, 9)
    Filter: `drawn_2` > 0.5
      Draw: drawn_2 'drawn' := RAND()
        Aggregate: by (a_3 'a' := `a`) compute (sum_b 'SUM(b)' := SUM(`b`))
          Scan t: a, b

-- title: draw shared by references
WITH c AS (SELECT a, rand() AS r FROM t) SELECT x.a FROM c AS x JOIN c AS y ON x.r = y.r
-- expected
Project: a_5 'a' := `a_3`
  InnerJoin: `r_2` = `r_3`
    Project: a_3 'a' := `a_2`, r_2 'r' := `r`
      [1] Project: a_2 'a' := `a`, r := `drawn`
        Draw: drawn := RAND()
          Scan t: a, b
    Project: a_4 'a' := `a_2`, r_3 'r' := `r`
      [1] as above

-- title: input file name
SELECT a, input_file_name() FROM t
-- error
UnsupportedError: function input_file_name is not supported at 1:11
  SELECT a, input_file_name() FROM t
            ^^^^^^^^^^^^^^^
Track the relation with its value as a column.

-- title: version
SELECT a FROM t VERSION AS OF 3
-- error
UnsupportedError: VERSION AS OF is not supported at 1:17
  SELECT a FROM t VERSION AS OF 3
                  ^^^^^^^
Track that version of the relation.
