-- title: aggregate without keys having
SELECT max(price) AS m FROM cars HAVING count(*) > 3
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`max_price` AS `m`,
  g.`_prov`
FROM (
  SELECT
    MAX(m.`price`) AS `max_price`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'max_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
) AS g
WHERE
  g.`count` > 3

-- title: having in subquery
SELECT dealer FROM cars GROUP BY dealer HAVING max(price) IN (SELECT amount FROM bids)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`max_price` AS `max_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      MAX(m.`price`) AS `max_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `k1`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b2_exists', b1.`max_price`) AS `_prov`
FROM `b1` AS b1
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` = b1.`max_price`
  )

-- title: having monotone
SELECT dealer FROM cars GROUP BY dealer HAVING count(*) > 2 AND sum(price) >= 10 AND min(price) < 5
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
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(*) AS `count`,
    SUM(m.`price`) AS `sum_price`,
    MIN(m.`price`) AS `min_price`,
    COLLECT_LIST(
      NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`, 'min_price_value', m.`price`)
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`count` > 2 AND g.`sum_price` >= 10 AND g.`min_price` < 5
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  aggregate: sum_price := SUM(m.`price`)
  aggregate: min_price := MIN(m.`price`)
  having: g.`count` > 2
  having: g.`sum_price` >= 10
  having: g.`min_price` < 5
  having is monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: having not monotone
SELECT dealer FROM cars GROUP BY dealer HAVING avg(price) > 2
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
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    AVG(m.`price`) AS `avg_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'avg_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`avg_price` > 2
-- blocks
b0: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: avg_price := AVG(m.`price`)
  having: g.`avg_price` > 2
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)

-- title: having null
SELECT dealer FROM cars WHERE price > 3 GROUP BY dealer HAVING NULL AND count(*) > 1
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 3
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  CAST(NULL AS BOOLEAN) AND g.`count` > 1

-- title: having on key
SELECT dealer, count(*) AS n FROM cars GROUP BY dealer HAVING dealer > 'a' AND count(*) > 1
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
  WHERE
    cars.`dealer` > 'a'
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_3` AS `dealer_3`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`dealer_3`
) AS g
WHERE
  g.`count` > 1
