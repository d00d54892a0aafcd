WITH `b1_members` AS (
  SELECT
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`price_2` AS `price_2_3`,
    CASE WHEN union_.`there` THEN 1 END AS `count_3`
  FROM (
    SELECT
      outer_.`price_2` AS `price_2`,
      TRUE AS `there`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars.`price` AS `price_2`
      FROM `cars` AS cars
    ) AS outer_
    WHERE
      bids.`amount` > outer_.`price_2`
    UNION ALL
    SELECT
      outer__2.`price_2` AS `price_2`,
      FALSE AS `there`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM (
      SELECT DISTINCT
        cars_2.`price` AS `price_2`
      FROM `cars` AS cars_2
    ) AS outer__2
  ) AS union_
), `b1` AS (
  SELECT
    g.`price_2_3` AS `price_2_3`,
    g.`count_3` AS `count_2`,
    g.`price_2_3` AS `price_2_2`
  FROM (
    SELECT
      m.`price_2_3` AS `price_2_3`,
      COUNT(m.`count_3`) AS `count_3`
    FROM `b1_members` AS m
    GROUP BY
      m.`price_2_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    cars_3.`price` AS `price`,
    cars_3.`model` AS `model_3`
  FROM `cars` AS cars_3
)
SELECT
  m.`model_3` AS `model_3`,
  b1_value.`count_2` AS `n`,
  NAMED_STRUCT('cars_3', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
LEFT JOIN `b1` AS b1_value
  ON b1_value.`price_2_2` IS NOT DISTINCT FROM m.`price`
