WITH `b3_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`
  FROM `cars` AS cars_3
  WHERE
    cars_3.`price` > 5
), `b3` AS (
  SELECT
    g.`max_price_4` - g.`count_3` AS `max_price_count`,
    2 * g.`avg_price_3` AS `n2_avg_x_price`,
    g.`count_3` AS `count`
  FROM (
    SELECT
      MAX(m.`price`) AS `max_price_4`,
      COUNT(*) AS `count_3`,
      AVG(m.`price`) AS `avg_price_3`
    FROM `b3_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
  WHERE
    cars_2.`price` > 5
), `b2` AS (
  SELECT
    g.`count_distinct_price_5` AS `count_distinct_price`
  FROM (
    SELECT
      COUNT(DISTINCT m.`price`) AS `count_distinct_price_5`
    FROM `b2_members` AS m
  ) AS g
), `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 6
), `b1` AS (
  SELECT
    g.`sum_price_6` AS `sum_price`
  FROM (
    SELECT
      SUM(m.`price`) AS `sum_price_6`
    FROM `b1_members` AS m
  ) AS g
), `b0_members` AS (
  SELECT
    cars_4.`car_id` AS `car_id`
  FROM `cars` AS cars_4
)
SELECT
  m.`car_id` AS `car_id_7`,
  CASE
    WHEN (
      SELECT
        b3_value_3.`count`
      FROM `b3` AS b3_value_3
    ) > 3
    THEN (
      SELECT
        b3_value_2.`n2_avg_x_price`
      FROM `b3` AS b3_value_2
    )
    ELSE (
      SELECT
        b3_value.`max_price_count`
      FROM `b3` AS b3_value
    )
  END AS `v`,
  (
    SELECT
      b2_value.`count_distinct_price`
    FROM `b2` AS b2_value
  ) AS `alone`,
  (
    SELECT
      b1_value.`sum_price`
    FROM `b1` AS b1_value
  ) AS `other`,
  NAMED_STRUCT('cars_4', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
