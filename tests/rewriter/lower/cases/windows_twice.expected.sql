WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY m.`price`, m.`car_id` ASC) AS `n`
  FROM `b1_members` AS m
)
SELECT
  b1.`model_2` AS `model_5`,
  b1_2.`n` AS `n_4`,
  NAMED_STRUCT('b1', b1.`car_id`, 'b1_2', b1_2.`car_id`) AS `_prov`
FROM `b1` AS b1, `b1` AS b1_2
WHERE
  b1.`model_2` = b1_2.`model_2` AND b1.`n` = b1_2.`n` - 1
