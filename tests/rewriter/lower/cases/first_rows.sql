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
    ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY 1, (
      m.`car_id`
    ) ASC) AS `number__1`
  FROM `b1_members` AS m
)
SELECT
  b1.`price_2` AS `price_3`,
  NAMED_STRUCT('b1', b1.`car_id`) AS `_prov`
FROM `b1` AS b1
WHERE
  b1.`number__1` = 1 AND b1.`price_2` > 3
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price_2 := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
  output: price_2 := m.`price_2` (stable)
  output: number__1 := ROW_NUMBER() OVER (PARTITION BY m.`model_2` ORDER BY 1, (m.`car_id`) ASC)
b0: rows, identity b1_car_id (stable)
  lookup: b1 as b1, free
  condition: b1.`number__1` = 1
  condition: b1.`price_2` > 3
  key: b1_car_id := b1.`car_id`
  output: price_3 := b1.`price_2` (stable)

-- title: rows with a watermark
SELECT price FROM timed_cars WHERE price > 3
-- blocks
b0: rows, identity car_id (stable)
  core:
    scan: cars as cars
    where: cars.`price` > 3
    store: car_id := cars.`car_id`
    store: price_3 := cars.`price`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  output: price_3 := m.`price_3` (stable)
