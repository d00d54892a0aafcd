WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`sum_price` AS `sum_price`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
), `b2_members` AS (
  SELECT
    bids.`bid` AS `bid`,
    bids.`buyer` AS `buyer`,
    bids.`car_id` AS `car_id_4`,
    bids.`amount` AS `amount`
  FROM `bids` AS bids
), `b2` AS (
  SELECT
    g.`car_id_4` AS `car_id_4`,
    g.`max_amount` AS `max_amount`
  FROM (
    SELECT
      m.`car_id_4` AS `car_id_4`,
      MAX(m.`amount`) AS `max_amount`
    FROM `b2_members` AS m
    GROUP BY
      m.`car_id_4`
  ) AS g
), `b3_members` AS (
  SELECT
    b2.`car_id_4` AS `b2_car_id_4`,
    outer_.`dealer_2` AS `dealer_2`
  FROM `b2` AS b2, (
    SELECT DISTINCT
      b1_2.`dealer_3` AS `dealer_2`
    FROM `b1` AS b1_2
  ) AS outer_
  WHERE
    b2.`car_id_4` > outer_.`dealer_2`
), `b3` AS (
  SELECT
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`dealer_2` AS `dealer_2`,
      TRUE AS `found`
    FROM `b3_members` AS m, `b2` AS b2
    WHERE
      m.`b2_car_id_4` IS NOT DISTINCT FROM b2.`car_id_4` AND b2.`max_amount` IS NULL
    GROUP BY
      m.`dealer_2`,
      TRUE
  ) AS g
), `b4` AS (
  SELECT
    g.`s` AS `s`,
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      b1_3.`sum_price` AS `s`,
      b1_3.`dealer_3` AS `dealer_2`,
      TRUE AS `found`
    FROM `b2` AS b2_2
    CROSS JOIN `b1` AS b1_3
    LEFT JOIN `b3` AS b3_found_2
      ON b3_found_2.`dealer_2` IS NOT DISTINCT FROM b1_3.`dealer_3`
    WHERE
      b2_2.`car_id_4` > b1_3.`dealer_3` AND b1_3.`sum_price` = b2_2.`max_amount`
    GROUP BY
      b1_3.`sum_price`,
      b1_3.`dealer_3`,
      TRUE
  ) AS g
), `b5_members` AS (
  SELECT
    b2_3.`car_id_4` AS `b2_3_car_id_4`,
    outer__3.`dealer_2` AS `dealer_2`
  FROM `b2` AS b2_3, (
    SELECT DISTINCT
      b1_4.`dealer_3` AS `dealer_2`
    FROM `b1` AS b1_4
  ) AS outer__3
  WHERE
    b2_3.`car_id_4` > outer__3.`dealer_2`
), `b5` AS (
  SELECT
    g.`dealer_2` AS `dealer_2`,
    g.`found` AS `found`
  FROM (
    SELECT
      m.`dealer_2` AS `dealer_2`,
      TRUE AS `found`
    FROM `b5_members` AS m, `b2` AS b2_3
    WHERE
      m.`b2_3_car_id_4` IS NOT DISTINCT FROM b2_3.`car_id_4`
    GROUP BY
      m.`dealer_2`,
      TRUE
  ) AS g
)
SELECT
  b1.`dealer_3` AS `dealer_4`,
  b1.`sum_price` AS `s_2`,
  NAMED_STRUCT('b1', b1.`dealer_3`) AS `_prov`
FROM `b1` AS b1
LEFT JOIN `b3` AS b3_found
  ON b3_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
LEFT JOIN `b4` AS b4_found
  ON b4_found.`s` IS NOT DISTINCT FROM b1.`sum_price`
  AND b4_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
LEFT JOIN `b5` AS b5_found
  ON COALESCE((
    b1.`sum_price` IS NULL
  ), FALSE)
  AND b5_found.`dealer_2` IS NOT DISTINCT FROM b1.`dealer_3`
WHERE
  NOT (
    (
      NOT b4_found.`found` IS NULL
    )
    OR (
      NOT b5_found.`found` IS NULL
    )
    OR (
      NOT b3_found.`found` IS NULL
    )
  )
  OR b1.`dealer_3` = 1
