WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
  WHERE
    dealers.`city` = 'Berlin'
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`dealer` AS `dealer_3`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars, `bids` AS bids
  WHERE
    cars.`car_id` = bids.`car_id`
)
SELECT
  m.`car_id` AS `car_id_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'bids', NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  m.`dealer` = (
    SELECT
      b1_value.`dealer_3`
    FROM `b1` AS b1_value
  )
