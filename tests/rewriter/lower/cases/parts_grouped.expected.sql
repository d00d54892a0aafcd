WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`min_amount_2` AS `min_amount`
  FROM (
    SELECT
      MIN(m.`amount`) AS `min_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b4_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b4` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`
  FROM `b4_members` AS m
  WHERE
    m.`price` > (
      SELECT
        b1_value.`min_amount`
      FROM `b1` AS b1_value
    )
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `k1`
  FROM `dealers` AS dealers_2
  WHERE
    dealers_2.`rating` > 3
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b3_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b5_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`,
    dealers.`rating` AS `rating`
  FROM `dealers` AS dealers
), `b5` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`rating` AS `rating`
  FROM `b5_members` AS m
  WHERE
    EXISTS(
      SELECT
        1
      FROM `b3` AS k
      WHERE
        k.`k1` = m.`city`
    )
), `b2_members` AS (
  SELECT
    bids_2.`bid` AS `bid`,
    bids_2.`buyer` AS `buyer`,
    bids_2.`amount` AS `amount`
  FROM `bids` AS bids_2
), `b2` AS (
  SELECT
    g.`avg_amount_2` AS `avg_amount`
  FROM (
    SELECT
      AVG(m.`amount`) AS `avg_amount_2`
    FROM `b2_members` AS m
  ) AS g
)
SELECT
  g.`model_3` AS `model_2`,
  g.`count` AS `n`,
  g.`max_rating` AS `best`,
  g.`_prov`
FROM (
  SELECT
    b4.`model` AS `model_3`,
    COUNT(*) AS `count`,
    MAX(b5.`rating`) AS `max_rating`,
    COLLECT_LIST(
      NAMED_STRUCT('b4', b4.`car_id`, 'b5', b5.`dealer`, 'max_rating_value', b5.`rating`)
    ) AS `_prov`
  FROM `b4` AS b4, `b5` AS b5
  WHERE
    b4.`price` > b5.`rating` + (
      SELECT
        b2_value.`avg_amount`
      FROM `b2` AS b2_value
    )
  GROUP BY
    b4.`model`
) AS g
