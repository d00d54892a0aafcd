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
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    CASE WHEN cars.`price` > 1 THEN cars.`price` END AS `percentile_cont_0_5_within_group_order_b`,
    cars.`price` AS `price`,
    CASE WHEN cars.`price` > 1 THEN cars.`dealer` END AS `listagg_dealer_within_group_order_by_pri`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_2`,
  g.`percentile_cont_0_5_within_group_order_b` AS `p`,
  g.`mode_within_group_order_by_price_desc` AS `most`,
  g.`listagg_dealer_within_group_order_by_pri` AS `dealers`,
  g.`listagg_distinct_dealer` AS `different`,
  g.`string_agg_distinct_dealer_within_group` AS `back`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
      m.`percentile_cont_0_5_within_group_order_b` DESC) AS `percentile_cont_0_5_within_group_order_b`,
    MODE() WITHIN GROUP (ORDER BY
      m.`price` DESC) AS `mode_within_group_order_by_price_desc`,
    LISTAGG(m.`listagg_dealer_within_group_order_by_pri`, ',') WITHIN GROUP (ORDER BY
      m.`price` DESC,
      m.`car_id` ASC) AS `listagg_dealer_within_group_order_by_pri`,
    LISTAGG(DISTINCT SUBSTRING(m.`dealer`, 1), ',') WITHIN GROUP (ORDER BY
      SUBSTRING(m.`dealer`, 1) ASC) AS `listagg_distinct_dealer`,
    STRING_AGG(DISTINCT m.`listagg_dealer_within_group_order_by_pri`) WITHIN GROUP (ORDER BY
      m.`listagg_dealer_within_group_order_by_pri` DESC) AS `string_agg_distinct_dealer_within_group`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'percentile_cont_0_5_within_group_order_b_value',
        NAMED_STRUCT('_1', 0.5, '_2', m.`percentile_cont_0_5_within_group_order_b`),
        'mode_within_group_order_by_price_desc_value',
        m.`price`,
        'listagg_dealer_within_group_order_by_pri_value',
        NAMED_STRUCT(
          '_1',
          m.`listagg_dealer_within_group_order_by_pri`,
          '_2',
          ',',
          '_3',
          m.`price`,
          '_4',
          m.`car_id`
        ),
        'listagg_distinct_dealer_value',
        NAMED_STRUCT('_1', SUBSTRING(m.`dealer`, 1), '_2', ',', '_3', SUBSTRING(m.`dealer`, 1)),
        'string_agg_distinct_dealer_within_group_value',
        NAMED_STRUCT(
          '_1',
          m.`listagg_dealer_within_group_order_by_pri`,
          '_2',
          m.`listagg_dealer_within_group_order_by_pri`
        )
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`
) AS g

-- title: distinct
SELECT DISTINCT model, dealer FROM cars
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_3`,
  g.`dealer_3` AS `dealer_3`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    m.`dealer_3` AS `dealer_3`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`,
    m.`dealer_3`
) AS g
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
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`sum_price` AS `total`,
  g.`avg_price_2` AS `avg_price`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    SUM(m.`price`) AS `sum_price`,
    AVG(m.`price`) AS `avg_price_2`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`, 'avg_price_2_value', m.`price`)
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
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

-- title: group by expression
SELECT price / 10 AS bin, price / 10 + 1, sum(price * 2) FROM cars GROUP BY price / 10
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` / 10 AS `price_10`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`price_10` AS `bin`,
  g.`price_10` + 1 AS `price_10_1`,
  g.`sum_price_2_2` AS `sum_price_2`,
  g.`_prov`
FROM (
  SELECT
    m.`price_10` AS `price_10`,
    SUM(m.`price` * 2) AS `sum_price_2_2`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'sum_price_2_2_value', m.`price` * 2)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`price_10`
) AS g

-- title: group by filter
SELECT dealer, count(*) FILTER (WHERE price > 10), count(DISTINCT model, price) FILTER (WHERE price > 10), max(price + 1) FILTER (WHERE model IS NULL) FROM cars GROUP BY dealer
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    CASE WHEN cars.`price` > 10 THEN 1 END AS `count_filter_where_price_10_2`,
    CASE WHEN cars.`price` > 10 THEN cars.`model` END AS `count_distinct_model_price_filter_where_2`,
    cars.`price` AS `price`,
    CASE WHEN cars.`model` IS NULL THEN cars.`price` + 1 END AS `max_price_1_filter_where_model_is_null_2`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`count_filter_where_price_10_2` AS `count_filter_where_price_10`,
  g.`count_distinct_model_price_filter_where_2` AS `count_distinct_model_price_filter_where`,
  g.`max_price_1_filter_where_model_is_null_2` AS `max_price_1_filter_where_model_is_null`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(m.`count_filter_where_price_10_2`) AS `count_filter_where_price_10_2`,
    COUNT(DISTINCT m.`count_distinct_model_price_filter_where_2`, m.`price`) AS `count_distinct_model_price_filter_where_2`,
    MAX(m.`max_price_1_filter_where_model_is_null_2`) AS `max_price_1_filter_where_model_is_null_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'count_filter_where_price_10_2_value',
        m.`count_filter_where_price_10_2`,
        'count_distinct_model_price_filter_where_2_value',
        NAMED_STRUCT('_1', m.`count_distinct_model_price_filter_where_2`, '_2', m.`price`),
        'max_price_1_filter_where_model_is_null_2_value',
        m.`max_price_1_filter_where_model_is_null_2`
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
