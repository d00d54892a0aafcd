WITH `b1_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`car_id` AS `k1`
  FROM `bids` AS bids_2
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
), `b0_members` AS (
  SELECT
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`bids_bid` AS `bids_bid`,
    outer_join.`bids_buyer` AS `bids_buyer`,
    outer_join.`car_id` AS `car_id`,
    outer_join.`asked` AS `asked`,
    outer_join.`amount` AS `amount`,
    outer_join.`model` AS `model_2`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`,
      bids.`bid` AS `bid`,
      bids.`car_id` AS `car_id_2`,
      bids.`buyer` AS `buyer`,
      bids.`amount` AS `amount`,
      cars.`car_id` AS `cars_car_id`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`,
      FALSE AS `asked`
    FROM `cars` AS cars, `bids` AS bids
    WHERE
      cars.`car_id` = bids.`car_id`
    UNION ALL
    SELECT
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer`,
      NULL AS `bid`,
      NULL AS `car_id_2`,
      NULL AS `buyer`,
      NULL AS `amount`,
      cars_2.`car_id` AS `cars_car_id`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`,
      TRUE AS `asked`
    FROM `cars` AS cars_2
  ) AS outer_join
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'cars',
    m.`cars_car_id`,
    'bids',
    NAMED_STRUCT('_1', m.`bids_bid`, '_2', m.`bids_buyer`),
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`car_id` END
  ) AS `_prov`
FROM (
  SELECT
    m.*,
    MONOTONICALLY_INCREASING_ID() AS `_number`
  FROM `b0_members` AS m
  WHERE
    (
      NOT m.`asked`
      OR NOT EXISTS(
        SELECT
          1
        FROM `b1` AS k
        WHERE
          k.`k1` = m.`car_id`
      )
    )
) AS m
WHERE
  m.`_number` >= 0 AND WORDS(m.`amount`) > 1
