WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars, `bids` AS bids
  WHERE
    bids.`car_id` = cars.`car_id`
)
SELECT
  m.`model_2` AS `model_2`,
  m.`buyer` AS `buyer_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'bids', NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`)) AS `_prov`
FROM `b0_members` AS m
