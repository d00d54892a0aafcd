-- title: aggregate of sorted rows
SELECT model, first(price) AS p FROM (SELECT * FROM cars ORDER BY dealer) WHERE price > 1 GROUP BY model
-- error
UnsupportedError: an aggregate that follows the order of a derived table is not supported at 1:91
  ER BY dealer) WHERE price > 1 GROUP BY model
                                ^^^^^^^^
Write the order in the aggregate: min_by(x, t), or LISTAGG WITHIN GROUP.
-- advised
SELECT model, min_by(price, dealer) AS p FROM cars WHERE price > 1 GROUP BY model

-- title: aggregate without keys
SELECT count(*) AS n, max(price) AS m FROM cars WHERE price > 5
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 5
)
SELECT
  g.`count` AS `n`,
  g.`max_price` AS `m`,
  g.`_prov`
FROM (
  SELECT
    COUNT(*) AS `count`,
    MAX(m.`price`) AS `max_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'max_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
) AS g
-- blocks
b0: group, identity nothing (not stable)
  core:
    scan: cars as cars
    where: cars.`price` > 5
    store: car_id := cars.`car_id`
    store: price := cars.`price`
  token: cars as cars in car_id
  aggregate: count := COUNT(*)
  aggregate: max_price := MAX(m.`price`)
  output: n := g.`count`
  output: m := g.`max_price`

-- title: aggregates that tie
SELECT
  model,
  max_by(car_id, price) AS dearest,
  min_by(car_id, price) FILTER (WHERE price > 1) AS cheapest,
  first(price) AS f,
  last(price) IGNORE NULLS AS l,
  any_value(price) FILTER (WHERE price > 2) AS any,
  mode(price) AS most,
  listagg(dealer, ',') AS dealers
FROM cars
GROUP BY model
HAVING min_by(price, car_id) > 3
-- blocks
b0: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: price := cars.`price`
    store: min_by_car_id_price_filter_where_price_1 := CASE WHEN cars.`price` > 1 THEN cars.`price` END
    store: last_price_ignore_nulls := CASE WHEN NOT cars.`price` IS NULL THEN 1 END
    store: any_value_price_filter_where_price_2 := CASE WHEN cars.`price` > 2 THEN 1 END
    store: dealer := cars.`dealer`
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: max_by_car_id_price := MAX_BY(m.`car_id`, CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END)
  aggregate: min_by_car_id_price_filter_where_price_1 := MIN_BY(m.`car_id`, CASE WHEN NOT m.`min_by_car_id_price_filter_where_price_1` IS NULL THEN STRUCT(m.`min_by_car_id_price_filter_where_price_1`, m.`car_id`) END)
  aggregate: first_price := MIN_BY(m.`price`, STRUCT(m.`car_id`))
  aggregate: last_price_ignore_nulls := MAX_BY(m.`price`, CASE WHEN NOT m.`last_price_ignore_nulls` IS NULL THEN STRUCT(m.`last_price_ignore_nulls`, m.`car_id`) END)
  aggregate: any_value_price_filter_where_price_2 := MIN_BY(m.`price`, CASE WHEN NOT m.`any_value_price_filter_where_price_2` IS NULL THEN STRUCT(m.`any_value_price_filter_where_price_2`, m.`car_id`) END)
  aggregate: mode_price := MODE(m.`price`, TRUE)
  aggregate: listagg_dealer := LISTAGG(m.`dealer`, ',') WITHIN GROUP (ORDER BY (m.`car_id`) ASC)
  aggregate: min_by_price_car_id := MIN_BY(m.`price`, m.`car_id`)
  having: g.`min_by_price_car_id` > 3
  having is not monotone
  output: model_2 := g.`model_3` (stable)
  output: dearest := g.`max_by_car_id_price`
  output: cheapest := g.`min_by_car_id_price_filter_where_price_1`
  output: f := g.`first_price`
  output: l := g.`last_price_ignore_nulls`
  output: any := g.`any_value_price_filter_where_price_2`
  output: most := g.`mode_price`
  output: dealers := g.`listagg_dealer`
