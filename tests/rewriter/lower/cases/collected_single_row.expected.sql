WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`sum_price` AS `n`
  FROM (
    SELECT
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
  ) AS g
)
SELECT
  g.`collect_list_n`[0] AS `first`,
  g.`_prov`
FROM (
  SELECT
    COLLECT_LIST(b1.`n`) AS `collect_list_n`,
    COLLECT_LIST(NAMED_STRUCT('b1', TRUE, 'collect_list_n_value', b1.`n`)) AS `_prov`
  FROM `b1` AS b1
) AS g
