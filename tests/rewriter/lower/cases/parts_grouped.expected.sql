WITH `b1_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b1` AS (
  SELECT
    g.`avg_amount_2` AS `avg_amount`,
    g.`min_amount_2` AS `min_amount`
  FROM (
    SELECT
      AVG(m.`amount`) AS `avg_amount_2`,
      MIN(m.`amount`) AS `min_amount_2`
    FROM `b1_members` AS m
  ) AS g
), `b3_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`price` AS `price`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b3` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`
  FROM `b3_members` AS m
  WHERE
    m.`price` > (
      SELECT
        b1_value_2.`min_amount`
      FROM `b1` AS b1_value_2
    )
), `b2_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    dealers_2.`city` AS `k1`
  FROM `dealers` AS dealers_2
  WHERE
    dealers_2.`rating` > 3
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
), `b4_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city`,
    dealers.`rating` AS `rating`
  FROM `dealers` AS dealers
), `b4` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`rating` AS `rating`
  FROM `b4_members` AS m
  WHERE
    EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`city`
    )
)
SELECT
  g.`model_3` AS `model_2`,
  g.`count` AS `n`,
  g.`max_rating` AS `best`,
  g.`_prov`
FROM (
  SELECT
    b3.`model` AS `model_3`,
    COUNT(*) AS `count`,
    MAX(b4.`rating`) AS `max_rating`,
    COLLECT_LIST(
      NAMED_STRUCT('b3', b3.`car_id`, 'b4', b4.`dealer`, 'max_rating_value', b4.`rating`)
    ) AS `_prov`
  FROM `b3` AS b3, `b4` AS b4
  WHERE
    b3.`price` > b4.`rating` + (
      SELECT
        b1_value.`avg_amount`
      FROM `b1` AS b1_value
    )
  GROUP BY
    b3.`model`
) AS g
