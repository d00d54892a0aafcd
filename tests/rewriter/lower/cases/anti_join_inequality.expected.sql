WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    outer_.`dealer` AS `dealer`,
    outer_.`amount` AS `amount`
  FROM `cars` AS cars, (
    SELECT DISTINCT
      dealers_2.`dealer` AS `dealer`,
      bids_2.`amount` AS `amount`
    FROM `dealers` AS dealers_2, `bids` AS bids_2
    WHERE
      bids_2.`buyer` = dealers_2.`city`
  ) AS outer_
  WHERE
    cars.`price` > outer_.`amount` AND outer_.`dealer` = cars.`dealer`
), `b1` AS (
  SELECT
    g.`dealer` AS `dealer`,
    g.`amount` AS `amount`
  FROM (
    SELECT
      m.`dealer` AS `dealer`,
      m.`amount` AS `amount`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`,
      m.`amount`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers, `bids` AS bids
  WHERE
    bids.`buyer` = dealers.`city`
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'bids',
    NAMED_STRUCT('_1', m.`bid`, '_2', m.`buyer`),
    'b1_absent',
    NAMED_STRUCT('_1', m.`dealer`, '_2', m.`amount`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`dealer` IS NOT DISTINCT FROM m.`dealer`
      AND k.`amount` IS NOT DISTINCT FROM m.`amount`
  )
