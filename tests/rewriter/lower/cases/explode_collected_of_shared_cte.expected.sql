WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    STRUCT(cars.`price` AS `price`, cars.`dealer` AS `dealer`) AS `collect_list_struct_price_as_price_deale`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_2` AS `model_2`,
    g.`model_2` AS `m_2`,
    g.`collect_list_struct_price_as_price_deale` AS `cars_2`
  FROM (
    SELECT
      m.`model_2` AS `model_2`,
      COLLECT_LIST(m.`collect_list_struct_price_as_price_deale`) AS `collect_list_struct_price_as_price_deale`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_2`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b1.`model_2` AS `b1_model_2`,
    cars_2.`price` AS `price`
  FROM `b1` AS b1, `cars` AS cars_2
  WHERE
    b1.`model_2` IS NOT DISTINCT FROM cars_2.`model`
    AND NOT STRUCT(cars_2.`price` AS `price`, cars_2.`dealer` AS `dealer`) IS NULL
), `b2` AS (
  SELECT
    g.`avg_p_4` AS `avg_g_p`
  FROM (
    SELECT
      AVG(m.`price`) AS `avg_p_4`
    FROM `b2_members` AS m, `b1` AS b1
    WHERE
      m.`b1_model_2` IS NOT DISTINCT FROM b1.`model_2`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_4.`car_id` AS `car_id`,
    b1_2.`model_2` AS `b1_2_model_2`,
    cars_4.`price` AS `price`,
    b1_2.`m_2` AS `m_6`
  FROM `b1` AS b1_2, `cars` AS cars_4
  WHERE
    b1_2.`model_2` IS NOT DISTINCT FROM cars_4.`model`
    AND NOT STRUCT(cars_4.`price` AS `price`, cars_4.`dealer` AS `dealer`) IS NULL
)
SELECT
  m.`m_6` AS `m_6`,
  m.`price` AS `p_5`,
  NAMED_STRUCT('cars_4', m.`car_id`, 'b1_2', b1_2.`model_2`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1_2
WHERE
  m.`b1_2_model_2` IS NOT DISTINCT FROM b1_2.`model_2`
  AND m.`price` > (
    SELECT
      b2_value.`avg_g_p`
    FROM `b2` AS b2_value
  )
