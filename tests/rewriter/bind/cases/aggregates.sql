-- title: aggregate any
SELECT any(price > 1) FROM cars
-- expected
Project: any_price_1 'any(price > 1)' := `any_price_1_2`
  Aggregate: by () compute (any_price_1_2 'any(price > 1)' := ANY(`price` > 1))
    Scan cars: car_id, model, price, sold, dealer

-- title: aggregate collect list
SELECT collect_list(price) FROM cars
-- expected
Project: collect_list_price 'collect_list(price)' := `collect_list_price_2`
  Aggregate: by () compute (collect_list_price_2 'collect_list(price)' := COLLECT_LIST(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: aggregate filter
SELECT sum(a) FILTER (WHERE b > 1) / count(*) FILTER (WHERE b > 1) FROM t
-- expected
Project: sum_a_filter_where_b_1_count_filter_wher 'SUM(a) FILTER(WHERE b > 1) / COUNT(*) FILTER(WHERE b > 1)' := `sum_a_filter_where_b_1` / `count_filter_where_b_1`
  Aggregate: by () compute (sum_a_filter_where_b_1 'SUM(a) FILTER(WHERE b > 1)' := SUM(`a`) FILTER(WHERE `b` > 1), count_filter_where_b_1 'COUNT(*) FILTER(WHERE b > 1)' := COUNT(*) FILTER(WHERE `b` > 1))
    Scan t: a, b

-- title: aggregate first
SELECT first(price) FROM cars
-- expected
Project: first_price 'first(price)' := `first_price_2`
  Aggregate: by () compute (first_price_2 'first(price)' := FIRST(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: aggregate forms
SELECT count(a, b), count(DISTINCT a, b), sum(DISTINCT a), mean(b), avg(b), count(DISTINCT *) FROM t
-- expected
Project: count_a_b 'COUNT(a, b)' := `count_a_b_2`, count_distinct_a_b 'COUNT(DISTINCT a, b)' := `count_distinct_a_b_2`, sum_distinct_a 'SUM(DISTINCT a)' := `sum_distinct_a_2`, mean_b 'mean(b)' := `avg_b_2`, avg_b 'AVG(b)' := `avg_b_2`, count_distinct 'COUNT(DISTINCT *)' := `count_distinct_a_b_2`
  Aggregate: by () compute (count_a_b_2 'COUNT(a, b)' := COUNT(`a`, `b`), count_distinct_a_b_2 'COUNT(DISTINCT a, b)' := COUNT(DISTINCT `a`, `b`), sum_distinct_a_2 'SUM(DISTINCT a)' := SUM(DISTINCT `a`), avg_b_2 'AVG(b)' := AVG(`b`))
    Scan t: a, b

-- title: aggregate histogram numeric
SELECT model, count(*) FROM cars GROUP BY model HAVING histogram_numeric(price, 3) IS NULL
-- error
UnsupportedError: aggregate histogram_numeric, whose value depends on the order of the rows, is not supported at 1:56
  OM cars GROUP BY model HAVING histogram_numeric(price, 3) IS
                                ^^^^^^^^^^^^^^^^^
Count by width_bucket: GROUP BY width_bucket(x, low, high, n).
-- advised
SELECT width_bucket(price, 0, 90, 3) AS part, count(*) AS n FROM cars GROUP BY width_bucket(price, 0, 90, 3)

-- title: aggregate ignore nulls
SELECT first(price) IGNORE NULLS AS f, last(price) FILTER (WHERE price > 1) IGNORE NULLS AS l FROM cars
-- expected
Project: f := `first_price_ignore_nulls`, l := `last_price_filter_where_price_1_ignore_n`
  Aggregate: by () compute (first_price_ignore_nulls 'first(price) IGNORE NULLS' := FIRST(`price`) IGNORE NULLS, last_price_filter_where_price_1_ignore_n 'last(price) FILTER(WHERE price > 1) IGNORE NULLS' := LAST(`price`) FILTER(WHERE `price` > 1) IGNORE NULLS)
    Scan cars: car_id, model, price, sold, dealer

-- title: aggregate in where
SELECT a FROM t WHERE sum(a) > 1
-- error
QueryError: aggregate sum cannot stand in WHERE at 1:23
  SELECT a FROM t WHERE sum(a) > 1
                        ^^^
Compute the aggregate in a derived table and refer to its column.
-- advised
SELECT s FROM (SELECT a, sum(a) AS s FROM t GROUP BY a) WHERE s > 1

-- title: aggregate measure
SELECT measure(price) FROM cars
-- error
UnsupportedError: aggregate measure, which means something in metric views only, is not supported at 1:8
  SELECT measure(price) FROM cars
         ^^^^^^^
Write the aggregate it stands for.
-- advised
SELECT sum(price) FROM cars

-- title: aggregate stddev
SELECT dealer, stddev(price) FROM cars GROUP BY dealer
-- expected
Project: dealer_2 'dealer' := `dealer_3`, stddev_price 'stddev(price)' := `stddev_price_2`
  Aggregate: by (dealer_3 'dealer' := `dealer`) compute (stddev_price_2 'stddev(price)' := STDDEV(`price`))
    Scan cars: car_id, model, price, sold, dealer

-- title: alias in aggregate
SELECT a + 1 AS c, sum(c) FROM t GROUP BY ALL
-- error
UnsupportedError: alias c inside an aggregate of the same select list is not supported at 1:24
  SELECT a + 1 AS c, sum(c) FROM t GROUP BY ALL
                         ^
Write the expression that the alias stands for.
-- advised
SELECT a + 1 AS c, sum(a + 1) FROM t GROUP BY ALL

-- title: nested aggregate
SELECT sum(max(a)) FROM t
-- error
QueryError: aggregate max cannot stand inside another aggregate at 1:12
  SELECT sum(max(a)) FROM t
             ^^^
Compute the aggregate in a derived table and refer to its column.
-- advised
SELECT sum(m) FROM (SELECT max(a) AS m FROM t GROUP BY b)
