-- title: aggregates of groups that tie
SELECT t.n, max_by(t.model, t.s) AS m, first(c.price) AS f
FROM (SELECT model, count(*) AS n, sum(price) AS s FROM cars GROUP BY model) t
JOIN cars c ON c.price > t.n
GROUP BY t.n
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`count` AS `n`,
    g.`sum_price` AS `s`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      COUNT(*) AS `count`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  g.`n_3` AS `n_2`,
  g.`max_by_model_2_s` AS `m`,
  g.`first_price_2` AS `f`,
  g.`_prov`
FROM (
  SELECT
    b1.`n` AS `n_3`,
    MAX_BY(
      b1.`model_2`,
      CASE WHEN NOT b1.`s` IS NULL THEN STRUCT(b1.`s`, m.`car_id`, b1.`model_3`) END
    ) AS `max_by_model_2_s`,
    MIN_BY(m.`price`, STRUCT(m.`car_id`, b1.`model_3`)) AS `first_price_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars_2',
        m.`car_id`,
        'b1',
        b1.`model_3`,
        'max_by_model_2_s_value',
        NAMED_STRUCT(
          '_1',
          b1.`model_2`,
          '_2',
          CASE WHEN NOT b1.`s` IS NULL THEN STRUCT(b1.`s`, m.`car_id`, b1.`model_3`) END
        ),
        'first_price_2_value',
        NAMED_STRUCT('_1', m.`price`, '_2', STRUCT(m.`car_id`, b1.`model_3`))
      )
    ) AS `_prov`
  FROM `b0_members` AS m, `b1` AS b1
  WHERE
    m.`price` > b1.`n`
  GROUP BY
    b1.`n`
) AS g
-- blocks
b1: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: count := COUNT(*)
  aggregate: sum_price := SUM(m.`price`)
  output: model_2 := g.`model_3` (stable)
  output: n := g.`count`
  output: s := g.`sum_price`
b0: group, identity n_3 (not stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: price := cars_2.`price`
  token: cars as cars_2 in car_id
  lookup: b1 as b1, free
  condition: m.`price` > b1.`n`
  key: n_3 := b1.`n`
  aggregate: max_by_model_2_s := MAX_BY(b1.`model_2`, CASE WHEN NOT b1.`s` IS NULL THEN STRUCT(b1.`s`, m.`car_id`, b1.`model_3`) END)
  aggregate: first_price_2 := MIN_BY(m.`price`, STRUCT(m.`car_id`, b1.`model_3`))
  output: n_2 := g.`n_3`
  output: m := g.`max_by_model_2_s`
  output: f := g.`first_price_2`

-- title: aggregates within group
SELECT
  model,
  percentile_cont(0.5) WITHIN GROUP (ORDER BY price DESC) FILTER (WHERE price > 1) AS p,
  mode() WITHIN GROUP (ORDER BY price DESC) AS most,
  listagg(dealer, ',') WITHIN GROUP (ORDER BY price DESC) FILTER (WHERE price > 1) AS dealers,
  listagg(DISTINCT dealer, ',') AS different,
  string_agg(DISTINCT dealer) WITHIN GROUP (ORDER BY dealer DESC) FILTER (WHERE price > 1) AS back
FROM cars
GROUP BY model
-- blocks
b0: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: percentile_cont_0_5_within_group_order_b := CASE WHEN cars.`price` > 1 THEN cars.`price` END
    store: price := cars.`price`
    store: listagg_dealer_within_group_order_by_pri := CASE WHEN cars.`price` > 1 THEN cars.`dealer` END
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: percentile_cont_0_5_within_group_order_b := PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY m.`percentile_cont_0_5_within_group_order_b` DESC)
  aggregate: mode_within_group_order_by_price_desc := MODE() WITHIN GROUP (ORDER BY m.`price` DESC)
  aggregate: listagg_dealer_within_group_order_by_pri := LISTAGG(m.`listagg_dealer_within_group_order_by_pri`, ',') WITHIN GROUP (ORDER BY m.`price` DESC, (m.`car_id`) ASC)
  aggregate: listagg_distinct_dealer := LISTAGG(DISTINCT SUBSTRING(m.`dealer`, 1), ',') WITHIN GROUP (ORDER BY SUBSTRING(m.`dealer`, 1) ASC)
  aggregate: string_agg_distinct_dealer_within_group := STRING_AGG(DISTINCT m.`listagg_dealer_within_group_order_by_pri`) WITHIN GROUP (ORDER BY m.`listagg_dealer_within_group_order_by_pri` DESC)
  output: model_2 := g.`model_3` (stable)
  output: p := g.`percentile_cont_0_5_within_group_order_b`
  output: most := g.`mode_within_group_order_by_price_desc`
  output: dealers := g.`listagg_dealer_within_group_order_by_pri`
  output: different := g.`listagg_distinct_dealer`
  output: back := g.`string_agg_distinct_dealer_within_group`

-- title: distinct
SELECT DISTINCT model, dealer FROM cars
-- blocks
b0: group, identity model_3, dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  key: dealer_3 := m.`dealer_3`
  output: model_3 := g.`model_3` (stable)
  output: dealer_3 := g.`dealer_3` (stable)

-- title: group by
SELECT dealer, sum(price) AS total, avg(price), count(*) FROM cars GROUP BY dealer
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  aggregate: avg_price_2 := AVG(m.`price`)
  aggregate: count_2 := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: total := g.`sum_price`
  output: avg_price := g.`avg_price_2`
  output: count := g.`count_2`

-- title: group by constant
SELECT 7 AS seven, count(*) FROM cars GROUP BY seven, 'x', 1.5
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
)
SELECT
  7 AS `seven`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    7 AS `seven_2`,
    'x' AS `x`,
    1.5 AS `n1_5`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    CAST(7 AS INT),
    'x',
    1.5
) AS g
-- blocks
b0: group, identity seven_2, x, n1_5 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
  token: cars as cars in car_id
  key: seven_2 := 7
  key: x := 'x'
  key: n1_5 := 1.5
  aggregate: count_2 := COUNT(*)
  output: seven := 7 (stable)
  output: count := g.`count_2`

-- title: group by expression
SELECT price / 10 AS bin, price / 10 + 1, sum(price * 2) FROM cars GROUP BY price / 10
-- blocks
b0: group, identity price_10 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: price_10 := cars.`price` / 10
    store: price := cars.`price`
  token: cars as cars in car_id
  key: price_10 := m.`price_10`
  aggregate: sum_price_2_2 := SUM(m.`price` * 2)
  output: bin := g.`price_10` (stable)
  output: price_10_1 := g.`price_10` + 1 (stable)
  output: sum_price_2 := g.`sum_price_2_2`

-- title: group by filter
SELECT dealer, count(*) FILTER (WHERE price > 10), count(DISTINCT model, price) FILTER (WHERE price > 10), max(price + 1) FILTER (WHERE model IS NULL) FROM cars GROUP BY dealer
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: count_filter_where_price_10_2 := CASE WHEN cars.`price` > 10 THEN 1 END
    store: count_distinct_model_price_filter_where_2 := CASE WHEN cars.`price` > 10 THEN cars.`model` END
    store: price := cars.`price`
    store: max_price_1_filter_where_model_is_null_2 := CASE WHEN cars.`model` IS NULL THEN cars.`price` + 1 END
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count_filter_where_price_10_2 := COUNT(m.`count_filter_where_price_10_2`)
  aggregate: count_distinct_model_price_filter_where_2 := COUNT(DISTINCT m.`count_distinct_model_price_filter_where_2`, m.`price`)
  aggregate: max_price_1_filter_where_model_is_null_2 := MAX(m.`max_price_1_filter_where_model_is_null_2`)
  output: dealer_2 := g.`dealer_3` (stable)
  output: count_filter_where_price_10 := g.`count_filter_where_price_10_2`
  output: count_distinct_model_price_filter_where := g.`count_distinct_model_price_filter_where_2`
  output: max_price_1_filter_where_model_is_null := g.`max_price_1_filter_where_model_is_null_2`
