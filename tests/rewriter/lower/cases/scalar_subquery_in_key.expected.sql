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
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  g.`price_select_avg_price_from_cars` AS `dear`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    ) AS `price_select_avg_price_from_cars`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(NAMED_STRUCT('cars_2', m.`car_id`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`price` > (
      SELECT
        b1_value.`avg_price`
      FROM `b1` AS b1_value
    )
) AS g
