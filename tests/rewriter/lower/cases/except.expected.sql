WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
), `b1` AS (
  SELECT
    g.`dealer_5` AS `dealer_5`
  FROM (
    SELECT
      m.`dealer` AS `dealer_5`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b2_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `k1`
  FROM `cars` AS cars
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
  b1.`dealer_5` AS `dealer_5`,
  NAMED_STRUCT('b1', b1.`dealer_5`, 'b2_absent', b1.`dealer_5`) AS `_prov`
FROM `b1` AS b1
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`k1` IS NOT DISTINCT FROM b1.`dealer_5`
  )
