WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    'x' AS `x`,
    g.`count` AS `n`
  FROM (
    SELECT
      COUNT(*) AS `count`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`buyer_3` AS `buyer_3`,
    g.`buyer_3` AS `buyer_2`,
    0 AS `_0`
  FROM (
    SELECT
      m.`buyer` AS `buyer_3`
    FROM `b2_members` AS m
    GROUP BY
      m.`buyer`
  ) AS g
), `b3` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_1_buyer_3` AS `_1_buyer_3`,
    u.`x` AS `x_2`,
    u.`n` AS `n_2`
  FROM (
    SELECT
      0 AS `_branch`,
      NULL AS `_1_buyer_3`,
      t.`x` AS `x`,
      t.`n` AS `n`
    FROM `b1` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      t.`buyer_3` AS `_1_buyer_3`,
      t.`buyer_2` AS `x`,
      t.`_0` AS `n`
    FROM `b2` AS t
  ) AS u
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    b3.`_branch` AS `b3__branch`,
    b3.`_1_buyer_3` AS `b3__1_buyer_3`,
    dealers.`city` AS `city_2`,
    b3.`x_2` AS `x_3`
  FROM `dealers` AS dealers, `b3` AS b3
  WHERE
    dealers.`dealer` = b3.`x_2`
)
SELECT
  m.`city_2` AS `city_2`,
  m.`x_3` AS `x_3`,
  NAMED_STRUCT('dealers', m.`dealer`, 'b3', NAMED_STRUCT('_1', b3.`_branch`, '_2', b3.`_1_buyer_3`)) AS `_prov`
FROM `b0_members` AS m, `b3` AS b3
WHERE
  m.`b3__branch` IS NOT DISTINCT FROM b3.`_branch`
  AND m.`b3__1_buyer_3` IS NOT DISTINCT FROM b3.`_1_buyer_3`
