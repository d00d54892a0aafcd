WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`avg_price_2` AS `avg_price`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`,
    cars_2.`dealer` AS `dealer_4`
  FROM `cars` AS cars_2
)
SELECT
  g.`dealer_4` AS `dealer_3`,
  g.`_prov`
FROM (
  SELECT
    m.`dealer_4` AS `dealer_4`,
    SUM(m.`price`) AS `sum_price`,
    COLLECT_LIST(NAMED_STRUCT('cars_2', m.`car_id`, 'sum_price_value', m.`price`)) AS `_prov`
  FROM `b0_members` AS m
  WHERE
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    )
  GROUP BY
    m.`dealer_4`
) AS g
WHERE
  g.`sum_price` > (
    SELECT
      b1_value_2.`avg_price`
    FROM `b1` AS b1_value_2
  )
