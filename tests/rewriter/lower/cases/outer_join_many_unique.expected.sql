WITH `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`car_id` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`car_id`
  ) AS g
), `b3_members` AS (
  SELECT
    dealers_4.`dealer` AS `dealer`
  FROM `dealers` AS dealers_4
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b3_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `city_2`,
    dealers_2.`rating` AS `rating_2`
  FROM `dealers` AS dealers_2
), `b1` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`dealer` AS `dealer_3`,
    m.`city_2` AS `city_2`,
    m.`rating_2` AS `rating_2`
  FROM `b1_members` AS m
), `b0_members` AS (
  SELECT
    outer_join_3.`bids_bids_bid` AS `bids_bids_bid`,
    outer_join_3.`bids_bids_buyer` AS `bids_bids_buyer`,
    outer_join_3.`cars_cars_car_id` AS `cars_cars_car_id`,
    outer_join_3.`dealers_3_dealer` AS `dealers_3_dealer`,
    outer_join_3.`car_id` AS `car_id`,
    outer_join_3.`asked` AS `asked`,
    outer_join_3.`dealer` AS `dealer`,
    outer_join_3.`asked_2` AS `asked_2`,
    outer_join_3.`amount` AS `amount`,
    outer_join_3.`bid` AS `bid_2`,
    outer_join_3.`model` AS `model_2`,
    outer_join_3.`city` AS `city_3`
  FROM (
    SELECT
      outer_join.`bid` AS `bid`,
      outer_join.`car_id` AS `car_id`,
      outer_join.`buyer` AS `buyer`,
      outer_join.`amount` AS `amount`,
      outer_join.`car_id_2` AS `car_id_2`,
      outer_join.`model` AS `model`,
      outer_join.`price` AS `price`,
      outer_join.`dealer` AS `dealer`,
      dealers_3.`dealer` AS `dealer_2`,
      dealers_3.`city` AS `city`,
      dealers_3.`rating` AS `rating`,
      outer_join.`bids_bid` AS `bids_bids_bid`,
      outer_join.`bids_buyer` AS `bids_bids_buyer`,
      outer_join.`cars_car_id` AS `cars_cars_car_id`,
      dealers_3.`dealer` AS `dealers_3_dealer`,
      outer_join.`asked` AS `asked`,
      FALSE AS `asked_2`
    FROM (
      SELECT
        bids.`bid` AS `bid`,
        bids.`car_id` AS `car_id`,
        bids.`buyer` AS `buyer`,
        bids.`amount` AS `amount`,
        cars.`car_id` AS `car_id_2`,
        cars.`model` AS `model`,
        cars.`price` AS `price`,
        cars.`dealer` AS `dealer`,
        bids.`bid` AS `bids_bid`,
        bids.`buyer` AS `bids_buyer`,
        cars.`car_id` AS `cars_car_id`,
        FALSE AS `asked`
      FROM `bids` AS bids, `cars` AS cars
      WHERE
        bids.`car_id` = cars.`car_id`
      UNION ALL
      SELECT
        bids_2.`bid` AS `bid`,
        bids_2.`car_id` AS `car_id`,
        bids_2.`buyer` AS `buyer`,
        bids_2.`amount` AS `amount`,
        NULL AS `car_id_2`,
        NULL AS `model`,
        NULL AS `price`,
        NULL AS `dealer`,
        bids_2.`bid` AS `bids_bid`,
        bids_2.`buyer` AS `bids_buyer`,
        NULL AS `cars_car_id`,
        TRUE AS `asked`
      FROM `bids` AS bids_2
    ) AS outer_join, `dealers` AS dealers_3
    WHERE
      dealers_3.`dealer` = outer_join.`dealer`
    UNION ALL
    SELECT
      outer_join_2.`bid` AS `bid`,
      outer_join_2.`car_id` AS `car_id`,
      outer_join_2.`buyer` AS `buyer`,
      outer_join_2.`amount` AS `amount`,
      outer_join_2.`car_id_2` AS `car_id_2`,
      outer_join_2.`model` AS `model`,
      outer_join_2.`price` AS `price`,
      outer_join_2.`dealer` AS `dealer`,
      NULL AS `dealer_2`,
      NULL AS `city`,
      NULL AS `rating`,
      outer_join_2.`bids_3_bid` AS `bids_bids_bid`,
      outer_join_2.`bids_3_buyer` AS `bids_bids_buyer`,
      outer_join_2.`cars_3_car_id` AS `cars_cars_car_id`,
      NULL AS `dealers_3_dealer`,
      outer_join_2.`asked` AS `asked`,
      TRUE AS `asked_2`
    FROM (
      SELECT
        bids_3.`bid` AS `bid`,
        bids_3.`car_id` AS `car_id`,
        bids_3.`buyer` AS `buyer`,
        bids_3.`amount` AS `amount`,
        cars_3.`car_id` AS `car_id_2`,
        cars_3.`model` AS `model`,
        cars_3.`price` AS `price`,
        cars_3.`dealer` AS `dealer`,
        bids_3.`bid` AS `bids_3_bid`,
        bids_3.`buyer` AS `bids_3_buyer`,
        cars_3.`car_id` AS `cars_3_car_id`,
        FALSE AS `asked`
      FROM `bids` AS bids_3, `cars` AS cars_3
      WHERE
        bids_3.`car_id` = cars_3.`car_id`
      UNION ALL
      SELECT
        bids_4.`bid` AS `bid`,
        bids_4.`car_id` AS `car_id`,
        bids_4.`buyer` AS `buyer`,
        bids_4.`amount` AS `amount`,
        NULL AS `car_id_2`,
        NULL AS `model`,
        NULL AS `price`,
        NULL AS `dealer`,
        bids_4.`bid` AS `bids_3_bid`,
        bids_4.`buyer` AS `bids_3_buyer`,
        NULL AS `cars_3_car_id`,
        TRUE AS `asked`
      FROM `bids` AS bids_4
    ) AS outer_join_2
  ) AS outer_join_3
)
SELECT
  m.`bid_2` AS `bid_2`,
  m.`model_2` AS `model_2`,
  m.`city_3` AS `city_3`,
  b1_match.`rating_2` AS `rating_3`,
  NAMED_STRUCT(
    'bids',
    NAMED_STRUCT('_1', m.`bids_bids_bid`, '_2', m.`bids_bids_buyer`),
    'cars',
    m.`cars_cars_car_id`,
    'dealers_3',
    m.`dealers_3_dealer`,
    'b2_absent',
    CASE WHEN m.`asked` THEN m.`car_id` END,
    'b3_2_absent',
    CASE WHEN m.`asked_2` THEN m.`dealer` END,
    'b1_match',
    b1_match.`dealer`
  ) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_match
  ON b1_match.`dealer_3` = m.`amount`
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`car_id`
    )
  )
  AND (
    NOT m.`asked_2`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b3` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
  )
