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
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`,
    CASE WHEN cars.`price` > 1 THEN cars.`price` END AS `min_by_car_id_price_filter_where_price_1`,
    CASE WHEN NOT cars.`price` IS NULL THEN 1 END AS `last_price_ignore_nulls`,
    CASE WHEN cars.`price` > 2 THEN 1 END AS `any_value_price_filter_where_price_2`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_2`,
  g.`max_by_car_id_price` AS `dearest`,
  g.`min_by_car_id_price_filter_where_price_1` AS `cheapest`,
  g.`first_price` AS `f`,
  g.`last_price_ignore_nulls` AS `l`,
  g.`any_value_price_filter_where_price_2` AS `any`,
  g.`mode_price` AS `most`,
  g.`listagg_dealer` AS `dealers`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    MAX_BY(m.`car_id`, CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END) AS `max_by_car_id_price`,
    MIN_BY(
      m.`car_id`,
      CASE
        WHEN NOT m.`min_by_car_id_price_filter_where_price_1` IS NULL
        THEN STRUCT(m.`min_by_car_id_price_filter_where_price_1`, m.`car_id`)
      END
    ) AS `min_by_car_id_price_filter_where_price_1`,
    MIN_BY(m.`price`, STRUCT(m.`car_id`)) AS `first_price`,
    MAX_BY(
      m.`price`,
      CASE
        WHEN NOT m.`last_price_ignore_nulls` IS NULL
        THEN STRUCT(m.`last_price_ignore_nulls`, m.`car_id`)
      END
    ) AS `last_price_ignore_nulls`,
    MIN_BY(
      m.`price`,
      CASE
        WHEN NOT m.`any_value_price_filter_where_price_2` IS NULL
        THEN STRUCT(m.`any_value_price_filter_where_price_2`, m.`car_id`)
      END
    ) AS `any_value_price_filter_where_price_2`,
    MODE(m.`price`, TRUE) AS `mode_price`,
    LISTAGG(m.`dealer`, ',') WITHIN GROUP (ORDER BY
      m.`car_id` ASC) AS `listagg_dealer`,
    MIN_BY(m.`price`, m.`car_id`) AS `min_by_price_car_id`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'max_by_car_id_price_value',
        NAMED_STRUCT(
          '_1',
          m.`car_id`,
          '_2',
          CASE WHEN NOT m.`price` IS NULL THEN STRUCT(m.`price`, m.`car_id`) END
        ),
        'min_by_car_id_price_filter_where_price_1_value',
        NAMED_STRUCT(
          '_1',
          m.`car_id`,
          '_2',
          CASE
            WHEN NOT m.`min_by_car_id_price_filter_where_price_1` IS NULL
            THEN STRUCT(m.`min_by_car_id_price_filter_where_price_1`, m.`car_id`)
          END
        ),
        'first_price_value',
        NAMED_STRUCT('_1', m.`price`, '_2', STRUCT(m.`car_id`)),
        'last_price_ignore_nulls_value',
        NAMED_STRUCT(
          '_1',
          m.`price`,
          '_2',
          CASE
            WHEN NOT m.`last_price_ignore_nulls` IS NULL
            THEN STRUCT(m.`last_price_ignore_nulls`, m.`car_id`)
          END
        ),
        'any_value_price_filter_where_price_2_value',
        NAMED_STRUCT(
          '_1',
          m.`price`,
          '_2',
          CASE
            WHEN NOT m.`any_value_price_filter_where_price_2` IS NULL
            THEN STRUCT(m.`any_value_price_filter_where_price_2`, m.`car_id`)
          END
        ),
        'mode_price_value',
        NAMED_STRUCT('_1', m.`price`, '_2', TRUE),
        'listagg_dealer_value',
        NAMED_STRUCT('_1', m.`dealer`, '_2', ',', '_3', m.`car_id`),
        'min_by_price_car_id_value',
        NAMED_STRUCT('_1', m.`price`, '_2', m.`car_id`)
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`
) AS g
WHERE
  g.`min_by_price_car_id` > 3
