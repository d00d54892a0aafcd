-- title: first rows
SELECT price FROM first_cars WHERE price > 3
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY 1, m.`car_id` ASC) AS `number__1`
  FROM `b1_members` AS m
)
SELECT
  b1.`price_2` AS `price_3`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1
WHERE
  b1.`number__1` = 1 AND b1.`price_2` > 3

-- title: rows with a watermark
SELECT price FROM timed_cars WHERE price > 3
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price_3`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 3
)
SELECT
  m.`price_3` AS `price_3`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
