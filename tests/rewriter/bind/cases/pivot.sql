-- title: correlated derived pivot
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM (SELECT k FROM l WHERE l.x = t.a) PIVOT (count(*) FOR k IN (1, 2)))
-- error
UnsupportedError: a sample or PIVOT of a relation that refers to the outer query is not supported at 1:53
  EXISTS (SELECT 1 FROM (SELECT k FROM l WHERE l.x = t.a) PIVO
                                ^
Write the subquery as a join with the outer query's relation.
-- advised
SELECT DISTINCT t.a FROM t JOIN l ON l.x = t.a

-- title: pivot
SELECT * FROM t PIVOT (sum(b) FOR a IN (1, 2))
-- expected
Project: _1_3 '1' := `_1`, _2_3 '2' := `_2`
  Project: _1 '1' := `_1_2`, _2 '2' := `_2_2`
    Aggregate: by () compute (_1_2 '1' := SUM(`b`) FILTER(WHERE `a` IS NOT DISTINCT FROM 1), _2_2 '2' := SUM(`b`) FILTER(WHERE `a` IS NOT DISTINCT FROM 2))
      Scan t: a, b

-- title: pivot count and max
SELECT * FROM cars PIVOT (max(model), count(*) FOR dealer IN (1))
-- error
UnsupportedError: PIVOT of a count beside MIN or MAX is not supported at 1:20
  SELECT * FROM cars PIVOT (max(model), count(*) FOR dealer IN
                     ^^^^^
Write PIVOT as aggregates with FILTER and GROUP BY.
-- advised
SELECT max(model) FILTER (WHERE dealer = 1) AS m, count(*) FILTER (WHERE dealer = 1) AS n FROM cars GROUP BY car_id

-- title: pivot in from of nothing
SELECT * FROM (PIVOT t)
-- error
UnsupportedError: PIVOT in FROM is not supported at 1:16
  SELECT * FROM (PIVOT t)
                 ^^^^^
Store its rows in a relation and track it.

-- title: pivot median
SELECT * FROM t PIVOT (median(b) FOR a IN (1))
-- error
UnsupportedError: PIVOT of median is not supported at 1:17
  SELECT * FROM t PIVOT (median(b) FOR a IN (1))
                  ^^^^^
Write PIVOT as aggregates with FILTER and GROUP BY.
-- advised
SELECT median(b) FILTER (WHERE a = 1) AS `1` FROM t

-- title: pivot of expression
SELECT * FROM t PIVOT (sum(b) + 1 FOR a IN (1))
-- expected
Project: _1_3 '1' := `_1`
  Project: _1 '1' := CASE WHEN `n1_rows` > 0 THEN `_1_2` + 1 END
    Aggregate: by () compute (_1_2 '1' := SUM(`b`) FILTER(WHERE `a` IS NOT DISTINCT FROM 1), n1_rows '1_rows' := COUNT(*) FILTER(WHERE `a` IS NOT DISTINCT FROM 1))
      Scan t: a, b

-- title: pivot of expressions
SELECT * FROM l PIVOT (coalesce(sum(x), 0) + 1, avg(x) AS m FOR k IN (1, 2 AS two))
-- expected
Project: j_4 'j' := `j_3`, n1_coalesce_sum_x_0_1_3 '1_COALESCE(SUM(x), 0) + 1' := `n1_coalesce_sum_x_0_1`, n1_m_3 '1_m' := `n1_m`, two_coalesce_sum_x_0_1_3 'two_COALESCE(SUM(x), 0) + 1' := `two_coalesce_sum_x_0_1`, two_m_3 'two_m' := `two_m`
  Project: j_3 'j' := `j_2`, n1_coalesce_sum_x_0_1 '1_COALESCE(SUM(x), 0) + 1' := CASE WHEN `n1_coalesce_sum_x_0_1_rows` > 0 THEN COALESCE(`n1_coalesce_sum_x_0_1_2`, 0) + 1 END, n1_m '1_m' := `n1_m_2`, two_coalesce_sum_x_0_1 'two_COALESCE(SUM(x), 0) + 1' := CASE WHEN `two_coalesce_sum_x_0_1_rows` > 0 THEN COALESCE(`two_coalesce_sum_x_0_1_2`, 0) + 1 END, two_m := `two_m_2`
    Aggregate: by (j_2 'j' := `j`) compute (n1_coalesce_sum_x_0_1_2 '1_COALESCE(SUM(x), 0) + 1' := SUM(`x`) FILTER(WHERE `k` IS NOT DISTINCT FROM 1), n1_coalesce_sum_x_0_1_rows '1_COALESCE(SUM(x), 0) + 1_rows' := COUNT(*) FILTER(WHERE `k` IS NOT DISTINCT FROM 1), n1_m_2 '1_m' := AVG(`x`) FILTER(WHERE `k` IS NOT DISTINCT FROM 1), two_coalesce_sum_x_0_1_2 'two_COALESCE(SUM(x), 0) + 1' := SUM(`x`) FILTER(WHERE `k` IS NOT DISTINCT FROM 2), two_coalesce_sum_x_0_1_rows 'two_COALESCE(SUM(x), 0) + 1_rows' := COUNT(*) FILTER(WHERE `k` IS NOT DISTINCT FROM 2), two_m_2 'two_m' := AVG(`x`) FILTER(WHERE `k` IS NOT DISTINCT FROM 2))
      Scan l: x, k, j

-- title: pivot of filtered
SELECT * FROM t PIVOT (sum(a) FILTER (WHERE a > 6) AS big, count(a) AS n FOR b IN ('x', 'y'))
-- expected
Project: x_big_3 'x_big' := `x_big`, x_n_3 'x_n' := `x_n`, y_big_3 'y_big' := `y_big`, y_n_3 'y_n' := `y_n`
  Project: x_big := `x_big_2`, x_n := CASE WHEN `x_n_rows` > 0 THEN `x_n_2` END, y_big := `y_big_2`, y_n := CASE WHEN `y_n_rows` > 0 THEN `y_n_2` END
    Aggregate: by () compute (x_big_2 'x_big' := SUM(`a`) FILTER(WHERE `b` IS NOT DISTINCT FROM 'x' AND `a` > 6), x_n_2 'x_n' := COUNT(`a`) FILTER(WHERE `b` IS NOT DISTINCT FROM 'x'), x_n_rows := COUNT(*) FILTER(WHERE `b` IS NOT DISTINCT FROM 'x'), y_big_2 'y_big' := SUM(`a`) FILTER(WHERE `b` IS NOT DISTINCT FROM 'y' AND `a` > 6), y_n_2 'y_n' := COUNT(`a`) FILTER(WHERE `b` IS NOT DISTINCT FROM 'y'), y_n_rows := COUNT(*) FILTER(WHERE `b` IS NOT DISTINCT FROM 'y'))
      Scan t: a, b

-- title: pivot of join
SELECT p.city, small FROM cars JOIN dealers USING (dealer) PIVOT (max(price) FOR model IN ('a' AS small, NULL)) AS p
-- expected
Project: city_4 'city' := `city_3`, small_3 'small' := `small`
  Project: dealer_4 'dealer' := `dealer_3`, car_id_3 'car_id' := `car_id_2`, sold_3 'sold' := `sold_2`, city_3 'city' := `city_2`, rating_3 'rating' := `rating_2`, small := `small_2`, null := `null_2`
    Aggregate: by (dealer_3 'dealer' := `dealer`, car_id_2 'car_id' := `car_id`, sold_2 'sold' := `sold`, city_2 'city' := `city`, rating_2 'rating' := `rating`) compute (small_2 'small' := MAX(`price`) FILTER(WHERE `model` IS NOT DISTINCT FROM 'a'), null_2 'null' := MAX(`price`) FILTER(WHERE `model` IS NOT DISTINCT FROM NULL))
      InnerJoin: `dealer` = `dealer_2`
        Scan cars: car_id, model, price, sold, dealer
        Scan dealers: dealer_2 := dealer, city, rating

-- title: pivot of no aggregate
SELECT * FROM t PIVOT (upper(a) FOR b IN (1, 2))
-- error
UnsupportedError: PIVOT of what has no aggregate of its own is not supported at 1:17
  SELECT * FROM t PIVOT (upper(a) FOR b IN (1, 2))
                  ^^^^^
Write PIVOT as aggregates with FILTER and GROUP BY.
-- advised
SELECT max(upper(a)) FILTER (WHERE b = 1) AS `1`, max(upper(a)) FILTER (WHERE b = 2) AS `2` FROM t

-- title: pivot of struct
SELECT * FROM (SELECT struct(k, j) AS s, x FROM l) PIVOT (sum(x) FOR s IN ((1, 2), (3, 4) AS three))
-- expected
Project: n1_2_3 '{1, 2}' := `n1_2`, three_3 'three' := `three`
  Project: n1_2 '{1, 2}' := `n1_2_2`, three := `three_2`
    Aggregate: by () compute (n1_2_2 '{1, 2}' := SUM(`x_2`) FILTER(WHERE `s` IS NOT DISTINCT FROM STRUCT(1, 2)), three_2 'three' := SUM(`x_2`) FILTER(WHERE `s` IS NOT DISTINCT FROM STRUCT(3, 4)))
      Project: s := STRUCT(`k` AS `k`, `j` AS `j`), x_2 'x' := `x`
        Scan l: x, k, j

-- title: pivot several
SELECT * FROM (SELECT model, dealer, sold, price FROM cars) PIVOT (sum(price) AS total, count(*) FOR (dealer, sold) IN ((1, 2) AS one, (3, 4))) AS p (a, b, c, d, e)
-- expected
Project: a := `model_4`, b := `one_total`, c := `one_count`, d := `n3_4__total`, e := `n3_4__count`
  Project: model_4 'model' := `model_3`, one_total := `one_total_2`, one_count 'one_COUNT(*)' := CASE WHEN `one_count_2` > 0 THEN `one_count_2` END, n3_4__total '{3, 4}_total' := `n3_4__total_2`, n3_4__count '{3, 4}_COUNT(*)' := CASE WHEN `n3_4__count_2` > 0 THEN `n3_4__count_2` END
    Aggregate: by (model_3 'model' := `model_2`) compute (one_total_2 'one_total' := SUM(`price_2`) FILTER(WHERE `dealer_2` IS NOT DISTINCT FROM 1 AND `sold_2` IS NOT DISTINCT FROM 2), one_count_2 'one_COUNT(*)' := COUNT(*) FILTER(WHERE `dealer_2` IS NOT DISTINCT FROM 1 AND `sold_2` IS NOT DISTINCT FROM 2), n3_4__total_2 '{3, 4}_total' := SUM(`price_2`) FILTER(WHERE `dealer_2` IS NOT DISTINCT FROM 3 AND `sold_2` IS NOT DISTINCT FROM 4), n3_4__count_2 '{3, 4}_COUNT(*)' := COUNT(*) FILTER(WHERE `dealer_2` IS NOT DISTINCT FROM 3 AND `sold_2` IS NOT DISTINCT FROM 4))
      Project: model_2 'model' := `model`, dealer_2 'dealer' := `dealer`, sold_2 'sold' := `sold`, price_2 'price' := `price`
        Scan cars: car_id, model, price, sold, dealer

-- title: pivot too many names
SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2)) AS p(x)
-- error
QueryError: 1 column names are given for 2 columns at 1:17
  SELECT * FROM t PIVOT (sum(a) FOR b IN (1, 2)) AS p(x)
                  ^^^^^
Name each column once.
-- advised
SELECT * FROM t PIVOT (sum(a) FOR b IN (1 AS x, 2 AS y))

-- title: subquery in pivot
SELECT * FROM t PIVOT (sum(a + (SELECT max(x) FROM l)) FOR b IN (1, 2))
-- error
UnsupportedError: a subquery in PIVOT is not supported at 1:17
  SELECT * FROM t PIVOT (sum(a + (SELECT max(x) FROM l)) FOR b
                  ^^^^^
Write PIVOT as aggregates with FILTER and GROUP BY.
-- advised
SELECT sum(a + m) FILTER (WHERE b = 1) AS `1`, sum(a + m) FILTER (WHERE b = 2) AS `2` FROM t CROSS JOIN (SELECT max(x) AS m FROM l)
