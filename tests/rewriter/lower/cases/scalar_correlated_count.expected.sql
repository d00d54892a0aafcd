WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`count` AS `value`,
    g.`dealer_3` AS `dealer_4`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END AS `n`,
  NAMED_STRUCT('dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_4` = m.`dealer`
ORDER BY
  CASE WHEN b1_value.`dealer_4` IS NULL THEN 0 ELSE b1_value.`value` END ASC
