WITH `b1_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`
  FROM `dealers` AS dealers
  WHERE
    dealers.`rating` > 3
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b2_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`
  FROM `dealers` AS dealers_2
  WHERE
    dealers_2.`rating` > 3
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      TRUE
  ) AS g
), `b3_members` AS (
  SELECT
    dealers_3.`dealer` AS `dealer`
  FROM `dealers` AS dealers_3
  WHERE
    dealers_3.`rating` > 3 AND dealers_3.`dealer` IS NULL
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      TRUE AS `k1`
    FROM `b3_members` AS m
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
      k.`k1` = m.`dealer`
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
