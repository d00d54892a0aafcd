WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    outer_.`car_id_3` AS `car_id_3_2`
  FROM `bids` AS bids, (
    SELECT DISTINCT
      cars_2.`car_id` AS `car_id_3`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    bids.`car_id` = outer_.`car_id_3`
), `b1` AS (
  SELECT
    m.`bid` AS `bid`,
    m.`buyer` AS `buyer`,
    m.`car_id_3_2` AS `car_id_3_2__id`,
    m.`buyer` AS `buyer_3`,
    m.`car_id_3_2` AS `car_id_3_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`car_id_3_2` ORDER BY NULL, m.`bid` ASC, m.`buyer` ASC) AS `row_number_2`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    b1.`bid` AS `b1_bid`,
    b1.`buyer` AS `b1_buyer`,
    b1.`car_id_3_2__id` AS `b1_car_id_3_2__id`,
    cars.`model` AS `model_3`,
    b1.`buyer_3` AS `buyer_5`
  FROM `cars` AS cars, `b1` AS b1
  WHERE
    b1.`car_id_3_2` IS NOT DISTINCT FROM cars.`car_id`
)
SELECT
  m.`model_3` AS `model_3`,
  m.`buyer_5` AS `buyer_5`,
  NAMED_STRUCT(
    'cars',
    m.`car_id`,
    'b1',
    NAMED_STRUCT('_1', b1.`bid`, '_2', b1.`buyer`, '_3', b1.`car_id_3_2__id`)
  ) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_bid` IS NOT DISTINCT FROM b1.`bid`
  AND m.`b1_buyer` IS NOT DISTINCT FROM b1.`buyer`
  AND m.`b1_car_id_3_2__id` IS NOT DISTINCT FROM b1.`car_id_3_2__id`
  AND b1.`row_number_2` <= 2
