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
