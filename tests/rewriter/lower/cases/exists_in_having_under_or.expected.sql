WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_2`,
  b1.`count` AS `n`,
  NAMED_STRUCT('b1', b1.`dealer_3`) AS `_prov`
FROM `b1` AS b1
LEFT JOIN `b2` AS b2_found
  ON b2_found.`k1` = b1.`dealer_3`
WHERE
  b1.`count` > 2 OR (
    NOT b2_found.`k1` IS NULL
  )
