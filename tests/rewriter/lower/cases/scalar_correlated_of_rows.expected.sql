WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    outer_.`dealer_3` AS `dealer_3_3`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers, (
    SELECT DISTINCT
      cars.`dealer` AS `dealer_3`
    FROM `cars` AS cars
  ) AS outer_
  WHERE
    dealers.`dealer` = outer_.`dealer_3`
), `b1` AS (
  SELECT
    g.`dealer_3_3` AS `dealer_3_3`,
    g.`city_4` AS `city_4`,
    g.`rows` AS `rows`
  FROM (
    SELECT
      m.`dealer_3_3` AS `dealer_3_3`,
      MAX(m.`city`) AS `city_4`,
      COUNT(*) AS `rows`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `dealer`,
    cars_2.`model` AS `model_3`
  FROM `cars` AS cars_2
)
SELECT
  m.`model_3` AS `model_3`,
  CASE
    WHEN b1_value.`rows` > 1
    THEN RAISE_ERROR('[SCALAR_SUBQUERY_TOO_MANY_ROWS] More than one row returned by a subquery.')
    ELSE b1_value.`city_4`
  END AS `city_5`,
  NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`dealer_3_3` IS NOT DISTINCT FROM m.`dealer`
