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
      _kept.`outer_join bid` AS `bid`,
      _kept.`outer_join car_id` AS `car_id`,
      _kept.`outer_join buyer` AS `buyer`,
      _kept.`outer_join amount` AS `amount`,
      _kept.`outer_join car_id_2` AS `car_id_2`,
      _kept.`outer_join model` AS `model`,
      _kept.`outer_join price` AS `price`,
      _kept.`outer_join dealer` AS `dealer`,
      _partners.`dealers_3 dealer` AS `dealer_2`,
      _partners.`dealers_3 city` AS `city`,
      _partners.`dealers_3 rating` AS `rating`,
      _kept.`outer_join bids_bid` AS `bids_bids_bid`,
      _kept.`outer_join bids_buyer` AS `bids_bids_buyer`,
      _kept.`outer_join cars_car_id` AS `cars_cars_car_id`,
      _partners.`dealers_3 dealer` AS `dealers_3_dealer`,
      _kept.`outer_join asked` AS `asked`,
      CASE WHEN _kept.`_part` = 0 THEN FALSE ELSE TRUE END AS `asked_2`
    FROM (
      SELECT
        outer_join.`dealer` AS `outer_join dealer`,
        outer_join.`bid` AS `outer_join bid`,
        outer_join.`car_id` AS `outer_join car_id`,
        outer_join.`buyer` AS `outer_join buyer`,
        outer_join.`amount` AS `outer_join amount`,
        outer_join.`car_id_2` AS `outer_join car_id_2`,
        outer_join.`model` AS `outer_join model`,
        outer_join.`price` AS `outer_join price`,
        outer_join.`bids_bid` AS `outer_join bids_bid`,
        outer_join.`bids_buyer` AS `outer_join bids_buyer`,
        outer_join.`cars_car_id` AS `outer_join cars_car_id`,
        outer_join.`asked` AS `outer_join asked`,
        _parts.`_part` AS `_part`
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
      ) AS outer_join
      LATERAL VIEW
      EXPLODE(ARRAY(0, 1)) _parts AS `_part`
    ) AS _kept
    LEFT JOIN (
      SELECT
        dealers_3.`dealer` AS `dealers_3 dealer`,
        dealers_3.`city` AS `dealers_3 city`,
        dealers_3.`rating` AS `dealers_3 rating`,
        TRUE AS `_found`
      FROM `dealers` AS dealers_3
    ) AS _partners
      ON _kept.`_part` = 0 AND _partners.`dealers_3 dealer` = _kept.`outer_join dealer`
    WHERE
      _kept.`_part` = 1 OR _partners.`_found`
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
