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
