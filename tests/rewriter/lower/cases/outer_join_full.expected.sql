WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`dealer` AS `k1`
  FROM `cars` AS cars_2
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
    dealers_3.`dealer` AS `dealer`
  FROM `dealers` AS dealers_3
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`dealer` AS `dealer`,
    outer_join.`asked` AS `asked`,
    outer_join.`dealer_2` AS `dealer_2`,
    outer_join.`asked_2` AS `asked_2`,
    outer_join.`city` AS `city_2`,
    outer_join.`model` AS `model_2`
  FROM (
    SELECT
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer_2`,
      dealers.`dealer` AS `dealers_dealer`,
      cars.`car_id` AS `cars_car_id`,
      FALSE AS `asked`,
      FALSE AS `asked_2`
    FROM `dealers` AS dealers, `cars` AS cars
    WHERE
      dealers.`dealer` = cars.`dealer`
    UNION ALL
    SELECT
      dealers_2.`dealer` AS `dealer`,
      dealers_2.`city` AS `city`,
      dealers_2.`rating` AS `rating`,
      NULL AS `car_id`,
      NULL AS `model`,
      NULL AS `price`,
      NULL AS `dealer_2`,
      dealers_2.`dealer` AS `dealers_dealer`,
      NULL AS `cars_car_id`,
      TRUE AS `asked`,
      FALSE AS `asked_2`
    FROM `dealers` AS dealers_2
    UNION ALL
    SELECT
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      cars_3.`car_id` AS `car_id`,
      cars_3.`model` AS `model`,
      cars_3.`price` AS `price`,
      cars_3.`dealer` AS `dealer_2`,
      NULL AS `dealers_dealer`,
      cars_3.`car_id` AS `cars_car_id`,
      FALSE AS `asked`,
      TRUE AS `asked_2`
    FROM `cars` AS cars_3
  ) AS outer_join
)
SELECT
  COALESCE(m.`dealer`, m.`dealer_2`) AS `dealer_4`,
  m.`city_2` AS `city_2`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`dealer` END,
    'b2_2_absent',
    CASE WHEN m.`asked_2` THEN m.`dealer_2` END
  ) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`dealer`
    )
  )
  AND (
    NOT m.`asked_2`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = m.`dealer_2`
    )
  )
