WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_5`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_5` AS `dealer_5`,
    g.`model_3` AS `model_3`
  FROM (
    SELECT
      m.`dealer_5` AS `dealer_5`,
      m.`model_3` AS `model_3`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_5`,
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `k2`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    g.`k1` AS `k1`,
    g.`k2` AS `k2`
  FROM (
    SELECT
      m.`dealer` AS `k1`,
      m.`k2` AS `k2`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`,
      m.`k2`
  ) AS g
)
SELECT
  b1.`dealer_5` AS `dealer_5`,
  b1.`model_3` AS `model_3`,
  NAMED_STRUCT(
    'b1',
    NAMED_STRUCT('_1', b1.`dealer_5`, '_2', b1.`model_3`),
    'b2_exists',
    NAMED_STRUCT('_1', b1.`dealer_5`, '_2', b1.`model_3`)
  ) AS `_prov`
FROM `b1` AS b1
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` IS NOT DISTINCT FROM b1.`dealer_5`
      AND k.`k2` IS NOT DISTINCT FROM b1.`model_3`
  )
