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
      _kept.`outer_join dealer` AS `dealer`,
      _kept.`outer_join city` AS `city`,
      _kept.`outer_join rating` AS `rating`,
      _kept.`outer_join car_id` AS `car_id`,
      _kept.`outer_join model` AS `model`,
      _kept.`outer_join price` AS `price`,
      _kept.`outer_join dealer_2` AS `dealer_2`,
      _partners.`bids bid` AS `bid`,
      _partners.`bids car_id` AS `car_id_2`,
      _partners.`bids buyer` AS `buyer`,
      _partners.`bids amount` AS `amount`,
      _kept.`outer_join dealers_dealer` AS `dealers_dealers_dealer`,
      _kept.`outer_join cars_car_id` AS `cars_cars_car_id`,
      _partners.`bids bid` AS `bids_bid`,
      _partners.`bids buyer` AS `bids_buyer`,
      _kept.`outer_join asked` AS `asked`,
      CASE WHEN _kept.`_part` = 0 THEN FALSE ELSE TRUE END AS `asked_2`
    FROM (
      SELECT
        outer_join.`car_id` AS `outer_join car_id`,
        outer_join.`dealer` AS `outer_join dealer`,
        outer_join.`city` AS `outer_join city`,
        outer_join.`rating` AS `outer_join rating`,
        outer_join.`model` AS `outer_join model`,
        outer_join.`price` AS `outer_join price`,
        outer_join.`dealer_2` AS `outer_join dealer_2`,
        outer_join.`dealers_dealer` AS `outer_join dealers_dealer`,
        outer_join.`cars_car_id` AS `outer_join cars_car_id`,
        outer_join.`asked` AS `outer_join asked`,
        _parts.`_part` AS `_part`
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
      ) AS outer_join
      LATERAL VIEW
      EXPLODE(ARRAY(0, 1)) _parts AS `_part`
    ) AS _kept
    LEFT JOIN (
      SELECT
        bids.`car_id` AS `bids car_id`,
        bids.`bid` AS `bids bid`,
        bids.`buyer` AS `bids buyer`,
        bids.`amount` AS `bids amount`,
        TRUE AS `_found`
      FROM `bids` AS bids
    ) AS _partners
      ON _kept.`_part` = 0 AND _partners.`bids car_id` = _kept.`outer_join car_id`
    WHERE
      _kept.`_part` = 1 OR _partners.`_found`
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
