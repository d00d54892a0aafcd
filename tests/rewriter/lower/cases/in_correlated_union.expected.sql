WITH `b1_members` AS (
  SELECT
    union_.`dealers_dealer` AS `dealers_dealer`,
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`dealer_6` AS `dealer_7`,
    union_.`car_id_2_4` AS `car_id_2_5`,
    union_.`price_2_4` AS `price_2_5`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer_6`,
      outer__2.`car_id_2` AS `car_id_2_4`,
      outer__2.`price_2` AS `price_2_4`,
      dealers.`dealer` AS `dealers_dealer`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM `dealers` AS dealers, (
      SELECT DISTINCT
        cars_3.`car_id` AS `car_id_2`,
        cars_3.`price` AS `price_2`
      FROM `cars` AS cars_3
    ) AS outer__2
    WHERE
      dealers.`rating` > outer__2.`price_2`
    UNION ALL
    SELECT
      bids.`buyer` AS `dealer_6`,
      outer__3.`car_id_2` AS `car_id_2_4`,
      outer__3.`price_2` AS `price_2_4`,
      NULL AS `dealers_dealer`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars_4.`car_id` AS `car_id_2`,
        cars_4.`price` AS `price_2`
      FROM `cars` AS cars_4
    ) AS outer__3
    WHERE
      bids.`car_id` = outer__3.`car_id_2`
  ) AS union_
), `b1` AS (
  SELECT
    g.`dealer_7` AS `dealer_7`,
    g.`car_id_2_5` AS `car_id_2_5`,
    g.`price_2_5` AS `price_2_5`
  FROM (
    SELECT
      m.`dealer_7` AS `dealer_7`,
      m.`car_id_2_5` AS `car_id_2_5`,
      m.`price_2_5` AS `price_2_5`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_7`,
      m.`car_id_2_5`,
      m.`price_2_5`
  ) AS g
), `b2_members` AS (
  SELECT
    b1.`dealer_7` AS `b1_dealer_7`,
    b1.`car_id_2_5` AS `b1_car_id_2_5`,
    b1.`price_2_5` AS `b1_price_2_5`,
    outer_.`dealer` AS `dealer`,
    outer_.`car_id` AS `car_id`,
    outer_.`price` AS `price`
  FROM `b1` AS b1, (
    SELECT DISTINCT
      cars_2.`dealer` AS `dealer`,
      cars_2.`car_id` AS `car_id`,
      cars_2.`price` AS `price`
    FROM `cars` AS cars_2
  ) AS outer_
  WHERE
    b1.`car_id_2_5` IS NOT DISTINCT FROM outer_.`car_id`
    AND b1.`price_2_5` IS NOT DISTINCT FROM outer_.`price`
    AND outer_.`dealer` = b1.`dealer_7`
), `b2` AS (
  SELECT
    g.`dealer` AS `dealer`,
    g.`car_id` AS `car_id`,
    g.`price` AS `price`
  FROM (
    SELECT
      m.`dealer` AS `dealer`,
      m.`car_id` AS `car_id`,
      m.`price` AS `price`
    FROM `b2_members` AS m, `b1` AS b1
    WHERE
      m.`b1_dealer_7` IS NOT DISTINCT FROM b1.`dealer_7`
      AND m.`b1_car_id_2_5` IS NOT DISTINCT FROM b1.`car_id_2_5`
      AND m.`b1_price_2_5` IS NOT DISTINCT FROM b1.`price_2_5`
    GROUP BY
      m.`dealer`,
      m.`car_id`,
      m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`price` AS `price`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT(
    'cars',
    m.`car_id`,
    'b2_exists',
    NAMED_STRUCT('_1', m.`dealer`, '_2', m.`car_id`, '_3', m.`price`)
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b2` AS k
    WHERE
      k.`dealer` IS NOT DISTINCT FROM m.`dealer`
      AND k.`car_id` IS NOT DISTINCT FROM m.`car_id`
      AND k.`price` IS NOT DISTINCT FROM m.`price`
  )
