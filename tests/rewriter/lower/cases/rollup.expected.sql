WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
)
SELECT
  g.`dealer_3` AS `dealer_2`,
  g.`model_3` AS `model_2`,
  g.`sum_price` AS `total`,
  CASE WHEN g.`grouping_set` IN (1, 2) THEN 1Y ELSE 0Y END AS `g`,
  g.`_prov`
FROM (
  SELECT
    expanded.`number` AS `grouping_set`,
    CASE WHEN expanded.`number` IN (0, 1) THEN m.`dealer_3` END AS `dealer_3`,
    CASE WHEN expanded.`number` IN (0) THEN m.`model_3` END AS `model_3`,
    SUM(m.`price`) AS `sum_price`,
    COLLECT_LIST(NAMED_STRUCT('cars', m.`car_id`, 'sum_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  LATERAL VIEW
  EXPLODE(ARRAY(0, 1, 2)) expanded AS `number`
  GROUP BY
    expanded.`number`,
    CASE WHEN expanded.`number` IN (0, 1) THEN m.`dealer_3` END,
    CASE WHEN expanded.`number` IN (0) THEN m.`model_3` END
) AS g
WHERE
  g.`dealer_3` IS NOT NULL AND g.`sum_price` > 2
