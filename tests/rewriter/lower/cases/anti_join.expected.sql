WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `k1`
  FROM `cars` AS cars
  WHERE
    cars.`price` > 10
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
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`rating` AS `rating`,
    dealers.`city` AS `city_2`
  FROM `dealers` AS dealers
)
SELECT
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealer`,
    'b1_absent',
    CASE WHEN COALESCE((
      m.`rating` > 2
    ), FALSE) THEN m.`dealer` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT COALESCE((
      m.`rating` > 2
    ), FALSE)
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
  )
