WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`collect_list_price` AS `prices`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      COLLECT_LIST(m.`price`) AS `collect_list_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    b1.`model_3` AS `b1_model_3`,
    b1.`model_2` AS `model_4`,
    cars_2.`price` AS `price`
  FROM `b1` AS b1, `cars` AS cars_2
  WHERE
    b1.`model_3` IS NOT DISTINCT FROM cars_2.`model` AND NOT cars_2.`price` IS NULL
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`b1_model_3` AS `b1_model_3`,
    m.`model_4` AS `model_4`,
    RANK() OVER (ORDER BY m.`price`) AS `n`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_model_3` IS NOT DISTINCT FROM b1.`model_3`
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  b2.`model_4` AS `model_5`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2', NAMED_STRUCT('_1', b2.`car_id`, '_2', b2.`b1_model_3`)) AS `_prov`
FROM `b0_members` AS m, `b2` AS b2
WHERE
  m.`dealer` = b2.`n`
