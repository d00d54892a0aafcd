WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_2` AS `model_2`,
    g.`collect_set_dealer` AS `dealers`
  FROM (
    SELECT
      m.`model_2` AS `model_2`,
      COLLECT_SET(m.`dealer`) AS `collect_set_dealer`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_2`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_2__key`,
    cars_2.`dealer` AS `dealer_2`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    g.`model_2__key` AS `model_2__key`,
    g.`dealer_2` AS `dealer_2`
  FROM (
    SELECT
      m.`model_2__key` AS `model_2__key`,
      m.`dealer_2` AS `dealer_2`
    FROM `b2_members` AS m
    GROUP BY
      m.`model_2__key`,
      m.`dealer_2`
  ) AS g
)
SELECT
  b2.`dealer_2` AS `dealer_3`,
  NAMED_STRUCT('b1', b1.`model_2`, 'b2', NAMED_STRUCT('_1', b2.`model_2__key`, '_2', b2.`dealer_2`)) AS `_prov`
FROM `b1` AS b1, `b2` AS b2
WHERE
  b1.`model_2` IS NOT DISTINCT FROM b2.`model_2__key` AND NOT b2.`dealer_2` IS NULL
