WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `k1`
  FROM `bids` AS bids
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
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b2` AS (
  SELECT
    g.`share_2` AS `share_2`
  FROM (
    SELECT
      100 / m.`price` AS `share_2`
    FROM `b2_members` AS m
    WHERE
      NOT EXISTS(
        SELECT
          1
        FROM `b1` AS k
        WHERE
          k.`k1` = m.`car_id`
      )
    GROUP BY
      100 / m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b2.`share_2` AS `b2_share_2`,
    dealers.`city` AS `city_2`
  FROM `b2` AS b2, `dealers` AS dealers
  WHERE
    dealers.`rating` = b2.`share_2`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`b2_share_2` AS `share_3`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b2', b2.`share_2`) AS `_prov`
FROM `b0_members` AS m, `b2` AS b2
WHERE
  m.`b2_share_2` IS NOT DISTINCT FROM b2.`share_2`
