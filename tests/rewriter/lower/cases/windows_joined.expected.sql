WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer_2`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer_2` AS `dealer_2`,
    ROW_NUMBER() OVER (PARTITION BY m.`dealer_2` ORDER BY m.`price`, m.`car_id` ASC) AS `row_number`
  FROM `b1_members` AS m
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1_2.`car_id__id` AS `b1_2_car_id__id`,
    dealers_2.`city` AS `city`,
    dealers_2.`rating` AS `rating`,
    b1_2.`car_id` AS `car_id_2`,
    b1_2.`dealer_2` AS `dealer_3`
  FROM `dealers` AS dealers_2, `b1` AS b1_2
  WHERE
    b1_2.`car_id` = dealers_2.`dealer`
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`b1_2_car_id__id` AS `b1_2_car_id__id`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    m.`car_id_2` AS `car_id_2`,
    m.`dealer_3` AS `dealer_3`,
    b1_2.`row_number` AS `n`
  FROM `b3_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_car_id__id` IS NOT DISTINCT FROM b1_2.`car_id__id`
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      b1_3.`car_id` AS `k1`
    FROM `b1` AS b1_3
    GROUP BY
      b1_3.`car_id`
  ) AS g
), `b4_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`,
    dealers_3.`city` AS `city`,
    dealers_3.`rating` AS `rating`
  FROM `dealers` AS dealers_3
), `b4` AS (
  SELECT
    m.`dealer` AS `dealer__id`,
    m.`dealer` AS `dealer`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    NULL AS `car_id_2`,
    NULL AS `dealer_3`,
    NULL AS `n`
  FROM `b4_members` AS m
  WHERE
    NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
), `b5` AS (
  SELECT
    u.`_branch` AS `_branch`,
    u.`_0_dealer__id` AS `_0_dealer__id`,
    u.`_0_b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
    u.`_1_dealer__id` AS `_1_dealer__id`,
    u.`dealer` AS `dealer`,
    u.`city` AS `city`,
    u.`rating` AS `rating`,
    u.`car_id_2` AS `car_id_2`,
    u.`dealer_3` AS `dealer_3`,
    u.`n` AS `n`
  FROM (
    SELECT
      0 AS `_branch`,
      t.`dealer__id` AS `_0_dealer__id`,
      t.`b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
      NULL AS `_1_dealer__id`,
      t.`dealer` AS `dealer`,
      t.`city` AS `city`,
      t.`rating` AS `rating`,
      t.`car_id_2` AS `car_id_2`,
      t.`dealer_3` AS `dealer_3`,
      t.`n` AS `n`
    FROM `b3` AS t
    UNION ALL
    SELECT
      1 AS `_branch`,
      NULL AS `_0_dealer__id`,
      NULL AS `_0_b1_2_car_id__id`,
      t.`dealer__id` AS `_1_dealer__id`,
      t.`dealer` AS `dealer`,
      t.`city` AS `city`,
      t.`rating` AS `rating`,
      NULL AS `car_id_2`,
      NULL AS `dealer_3`,
      NULL AS `n`
    FROM `b4` AS t
  ) AS u
), `b6_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    b5_2.`_branch` AS `b5_2__branch`,
    b5_2.`_0_dealer__id` AS `b5_2__0_dealer__id`,
    b5_2.`_0_b1_2_car_id__id` AS `b5_2__0_b1_2_car_id__id`,
    b5_2.`_1_dealer__id` AS `b5_2__1_dealer__id`,
    bids.`amount` AS `amount`,
    b5_2.`car_id_2` AS `car_id_2`
  FROM `bids` AS bids, `b5` AS b5_2
  WHERE
    b5_2.`car_id_2` = bids.`car_id`
), `b6` AS (
  SELECT
    g.`car_id_2` AS `car_id_2`,
    g.`n` AS `n`
  FROM (
    SELECT
      m.`car_id_2` AS `car_id_2`,
      b5_2.`n` AS `n`
    FROM `b6_members` AS m, `b5` AS b5_2
    WHERE
      m.`b5_2__branch` IS NOT DISTINCT FROM b5_2.`_branch`
      AND m.`b5_2__0_dealer__id` IS NOT DISTINCT FROM b5_2.`_0_dealer__id`
      AND m.`b5_2__0_b1_2_car_id__id` IS NOT DISTINCT FROM b5_2.`_0_b1_2_car_id__id`
      AND m.`b5_2__1_dealer__id` IS NOT DISTINCT FROM b5_2.`_1_dealer__id`
      AND m.`amount` > b5_2.`n`
    GROUP BY
      m.`car_id_2`,
      b5_2.`n`
  ) AS g
)
SELECT
  b5.`city` AS `city_2`,
  b5.`n` AS `n_2`,
  NAMED_STRUCT(
    'b5',
    NAMED_STRUCT(
      '_1',
      b5.`_branch`,
      '_2',
      b5.`_0_dealer__id`,
      '_3',
      b5.`_0_b1_2_car_id__id`,
      '_4',
      b5.`_1_dealer__id`
    ),
    'b6_absent',
    NAMED_STRUCT('_1', b5.`car_id_2`, '_2', b5.`n`)
  ) AS `_prov`
FROM `b5` AS b5
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b6` AS k
    WHERE
      k.`car_id_2` IS NOT DISTINCT FROM b5.`car_id_2`
      AND k.`n` IS NOT DISTINCT FROM b5.`n`
  )
