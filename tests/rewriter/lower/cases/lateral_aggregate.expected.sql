WITH `b1_members` AS (
  SELECT
    union_.`bids_bid` AS `bids_bid`,
    union_.`bids_buyer` AS `bids_buyer`,
    union_.`car_id_3` AS `car_id_3_3`,
    CASE WHEN union_.`there` THEN 1 END AS `count`
  FROM (
    SELECT
      outer_.`car_id_3` AS `car_id_3`,
      TRUE AS `there`,
      bids.`bid` AS `bids_bid`,
      bids.`buyer` AS `bids_buyer`
    FROM `bids` AS bids, (
      SELECT DISTINCT
        cars_2.`car_id` AS `car_id_3`
      FROM `cars` AS cars_2
    ) AS outer_
    WHERE
      bids.`car_id` = outer_.`car_id_3`
    UNION ALL
    SELECT
      outer__2.`car_id_3` AS `car_id_3`,
      FALSE AS `there`,
      NULL AS `bids_bid`,
      NULL AS `bids_buyer`
    FROM (
      SELECT DISTINCT
        cars_3.`car_id` AS `car_id_3`
      FROM `cars` AS cars_3
    ) AS outer__2
  ) AS union_
), `b1` AS (
  SELECT
    g.`car_id_3_3` AS `car_id_3_3`,
    g.`count` AS `n`,
    g.`car_id_3_3` AS `car_id_3_2`
  FROM (
    SELECT
      m.`car_id_3_3` AS `car_id_3_3`,
      COUNT(m.`count`) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`car_id_3_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    b1.`car_id_3_3` AS `b1_car_id_3_3`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars, `b1` AS b1
  WHERE
    b1.`car_id_3_2` IS NOT DISTINCT FROM cars.`car_id`
)
SELECT
  m.`model_3` AS `model_3`,
  b1.`n` AS `n_2`,
  NAMED_STRUCT('cars', m.`car_id`, 'b1', b1.`car_id_3_3`) AS `_prov`
FROM `b0_members` AS m, `b1` AS b1
WHERE
  m.`b1_car_id_3_3` IS NOT DISTINCT FROM b1.`car_id_3_3`
