WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
  WHERE
    dealers.`rating` > 3
), `b1` AS (
  SELECT
    g.`value` AS `value`
  FROM (
    SELECT
      m.`dealer` AS `value`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_2
    GROUP BY
      TRUE
  ) AS g
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b1` AS b1_3
    WHERE
      b1_3.`value` IS NULL
    GROUP BY
      TRUE
  ) AS g
), `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer`,
    cars.`model` AS `model_2`
  FROM `cars` AS cars
)
SELECT
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'cars',
    m.`car_id`,
    'b1_absent',
    m.`dealer`,
    'b2_2_absent',
    CASE WHEN COALESCE((
      m.`dealer` IS NULL
    ), FALSE) THEN TRUE END,
    'b3_3_absent',
    TRUE
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  NOT EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`value` = m.`dealer`
  )
  AND (
    NOT COALESCE((
      m.`dealer` IS NULL
    ), FALSE)
    OR NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
    )
  )
  AND NOT EXISTS(
    SELECT
      1
    FROM `b3` AS k
  )
