WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `k1`
  FROM `cars` AS cars_2
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b2_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`car_id` AS `k1`
  FROM `bids` AS bids_2
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join_3.`dealers_dealers_dealer` AS `dealers_dealers_dealer`,
    outer_join_3.`cars_cars_car_id` AS `cars_cars_car_id`,
    outer_join_3.`bids_bid` AS `bids_bid`,
    outer_join_3.`bids_buyer` AS `bids_buyer`,
    outer_join_3.`dealer` AS `dealer`,
    outer_join_3.`asked` AS `asked`,
    outer_join_3.`car_id` AS `car_id`,
    outer_join_3.`asked_2` AS `asked_2`,
    outer_join_3.`city` AS `city_3`,
    outer_join_3.`bid` AS `bid`
  FROM (
    SELECT
      outer_join.`dealer` AS `dealer`,
      outer_join.`city` AS `city`,
      outer_join.`rating` AS `rating`,
      outer_join.`car_id` AS `car_id`,
      outer_join.`model` AS `model`,
      outer_join.`price` AS `price`,
      outer_join.`dealer_2` AS `dealer_2`,
      bids.`bid` AS `bid`,
      bids.`car_id` AS `car_id_2`,
      bids.`buyer` AS `buyer`,
      bids.`amount` AS `amount`,
      outer_join.`dealers_dealer` AS `dealers_dealers_dealer`,
      outer_join.`cars_car_id` AS `cars_cars_car_id`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`,
      outer_join.`asked` AS `asked`,
      FALSE AS `asked_2`
    FROM (
      SELECT
        dealers.`dealer` AS `dealer`,
        dealers.`city` AS `city`,
        dealers.`rating` AS `rating`,
        cars.`car_id` AS `car_id`,
        cars.`model` AS `model`,
        cars.`price` AS `price`,
        cars.`dealer` AS `dealer_2`,
        dealers.`dealer` AS `dealers_dealer`,
        cars.`car_id` AS `cars_car_id`,
        FALSE AS `asked`
      FROM `dealers` AS dealers, `cars` AS cars
      WHERE
        cars.`dealer` = dealers.`dealer`
      UNION ALL
      SELECT
        dealers_2.`dealer` AS `dealer`,
        dealers_2.`city` AS `city`,
        dealers_2.`rating` AS `rating`,
        NULL AS `car_id`,
        NULL AS `model`,
        NULL AS `price`,
        NULL AS `dealer_2`,
        dealers_2.`dealer` AS `dealers_dealer`,
        NULL AS `cars_car_id`,
        TRUE AS `asked`
      FROM `dealers` AS dealers_2
    ) AS outer_join, `bids` AS bids
    WHERE
      bids.`car_id` = outer_join.`car_id`
    UNION ALL
    SELECT
      outer_join_2.`dealer` AS `dealer`,
      outer_join_2.`city` AS `city`,
      outer_join_2.`rating` AS `rating`,
      outer_join_2.`car_id` AS `car_id`,
      outer_join_2.`model` AS `model`,
      outer_join_2.`price` AS `price`,
      outer_join_2.`dealer_2` AS `dealer_2`,
      NULL AS `bid`,
      NULL AS `car_id_2`,
      NULL AS `buyer`,
      NULL AS `amount`,
      outer_join_2.`dealers_3_dealer` AS `dealers_dealers_dealer`,
      outer_join_2.`cars_3_car_id` AS `cars_cars_car_id`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`,
      outer_join_2.`asked` AS `asked`,
      TRUE AS `asked_2`
    FROM (
      SELECT
        dealers_3.`dealer` AS `dealer`,
        dealers_3.`city` AS `city`,
        dealers_3.`rating` AS `rating`,
        cars_3.`car_id` AS `car_id`,
        cars_3.`model` AS `model`,
        cars_3.`price` AS `price`,
        cars_3.`dealer` AS `dealer_2`,
        dealers_3.`dealer` AS `dealers_3_dealer`,
        cars_3.`car_id` AS `cars_3_car_id`,
        FALSE AS `asked`
      FROM `dealers` AS dealers_3, `cars` AS cars_3
      WHERE
        cars_3.`dealer` = dealers_3.`dealer`
      UNION ALL
      SELECT
        dealers_4.`dealer` AS `dealer`,
        dealers_4.`city` AS `city`,
        dealers_4.`rating` AS `rating`,
        NULL AS `car_id`,
        NULL AS `model`,
        NULL AS `price`,
        NULL AS `dealer_2`,
        dealers_4.`dealer` AS `dealers_3_dealer`,
        NULL AS `cars_3_car_id`,
        TRUE AS `asked`
      FROM `dealers` AS dealers_4
    ) AS outer_join_2
  ) AS outer_join_3
)
SELECT
  g.`city_3` AS `city_2`,
  g.`count_bid` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`city_3` AS `city_3`,
    COUNT(m.`bid`) AS `count_bid`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'dealers',
        m.`dealers_dealers_dealer`,
        'cars',
        m.`cars_cars_car_id`,
        'bids',
        NAMED_STRUCT('_1', m.`bids_bid`, '_2', m.`bids_buyer`),
        'b1_absent',
        CASE WHEN m.`asked` THEN m.`dealer` END,
        'b2_2_absent',
        CASE WHEN m.`asked_2` THEN m.`car_id` END,
        'count_bid_value',
        m.`bid`
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  WHERE
    (
      NOT m.`asked`
      OR NOT EXISTS(
        SELECT
          1
        FROM `b1` AS k
        WHERE
          k.`k1` = m.`dealer`
      )
    )
    AND (
      NOT m.`asked_2`
      OR NOT EXISTS(
        SELECT
          1
        FROM `b2` AS k
        WHERE
          k.`k1` = m.`car_id`
      )
    )
  GROUP BY
    m.`city_3`
) AS g
