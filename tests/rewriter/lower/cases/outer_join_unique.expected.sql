WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`
  FROM `dealers` AS dealers_2
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
), `b0_members` AS (
  SELECT
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`dealer` AS `dealer`,
    outer_join.`asked` AS `asked`,
    outer_join.`model` AS `model_2`,
    outer_join.`city` AS `city_2`
  FROM (
    SELECT
      cars.`car_id` AS `car_id`,
      cars.`model` AS `model`,
      cars.`price` AS `price`,
      cars.`dealer` AS `dealer`,
      dealers.`dealer` AS `dealer_2`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      cars.`car_id` AS `cars_car_id`,
      dealers.`dealer` AS `dealers_dealer`,
      FALSE AS `asked`
    FROM `cars` AS cars, `dealers` AS dealers
    WHERE
      dealers.`dealer` = cars.`dealer`
    UNION ALL
    SELECT
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer`,
      NULL AS `dealer_2`,
      NULL AS `city`,
      NULL AS `rating`,
      cars_2.`car_id` AS `cars_car_id`,
      NULL AS `dealers_dealer`,
      TRUE AS `asked`
    FROM `cars` AS cars_2
  ) AS outer_join
)
SELECT
  m.`model_2` AS `model_2`,
  m.`city_2` AS `city_2`,
  NAMED_STRUCT(
    'cars',
    m.`cars_car_id`,
    'dealers',
    m.`dealers_dealer`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`dealer` END
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
