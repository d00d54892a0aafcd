WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    STRUCT(cars.`price` AS `price`, cars.`dealer` AS `dealer`) AS `collect_list_struct_price_as_price_deale`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 3
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`collect_list_struct_price_as_price_deale` AS `cars`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      COLLECT_LIST(m.`collect_list_struct_price_as_price_deale`) AS `collect_list_struct_price_as_price_deale`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
  WHERE
    g.`count` > 1
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b1.`model_3` AS `b1_model_3`,
    b1.`model_2` AS `model_4`,
    cars_2.`price` AS `price_3`
  FROM `b1` AS b1, `cars` AS cars_2
  WHERE
    cars_2.`price` > 3
    AND b1.`model_3` IS NOT DISTINCT FROM cars_2.`model`
    AND NOT STRUCT(cars_2.`price` AS `price`, cars_2.`dealer` AS `dealer`) IS NULL
)
SELECT
  m.`model_4` AS `model_4`,
  m.`price_3` AS `price_3`,
  NAMED_STRUCT('cars_2', m.`car_id`, 'b1', b1.`model_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
