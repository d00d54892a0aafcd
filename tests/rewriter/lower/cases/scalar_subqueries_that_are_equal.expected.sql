WITH `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_7`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
  WHERE
    cars_2.`model` = 'b'
), `b2` AS (
  SELECT
    g.`model_7` AS `model_7`,
    g.`avg_price_4` AS `avg_e_price`
  FROM (
    SELECT
      m.`model_7` AS `model_7`,
      AVG(m.`price`) AS `avg_price_4`
    FROM `b2_members` AS m
    GROUP BY
      m.`model_7`
  ) AS g
), `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
  WHERE
    cars.`model` = 'a'
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`avg_price_2` AS `avg_c_price`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      AVG(m.`price`) AS `avg_price_2`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`
  FROM `cars` AS cars_3
)
SELECT
  m.`car_id` AS `car_id_5`,
  NAMED_STRUCT('cars_3', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`price` > (
    SELECT
      b1_value.`avg_c_price`
    FROM `b1` AS b1_value
  )
  OR m.`price` < (
    SELECT
      b1_value_2.`avg_c_price`
    FROM `b1` AS b1_value_2
  ) - 1
  OR m.`price` = (
    SELECT
      b2_value.`avg_e_price`
    FROM `b2` AS b2_value
  )
