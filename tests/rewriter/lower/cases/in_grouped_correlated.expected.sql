WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`model_2` AS `model_2`,
    g.`count` AS `count`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      m.`model_2` AS `model_2`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`,
      m.`model_2`
  ) AS g
  WHERE
    g.`count` >= 1
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`
  FROM `dealers` AS dealers
)
SELECT
  m.`city` AS `city_2`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', NAMED_STRUCT('_1', m.`dealer`, '_2', m.`city`)) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`dealer_3` = m.`dealer` AND k.`model_2` = m.`city`
  )
