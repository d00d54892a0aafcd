WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    outer_.`price` AS `price`
  FROM `dealers` AS dealers_2, (
    SELECT DISTINCT
      cars_3.`price` AS `price`
    FROM `cars` AS cars_3
  ) AS outer_
  WHERE
    outer_.`price` > dealers_2.`rating`
), `b1` AS (
  SELECT
    g.`price` AS `price`
  FROM (
    SELECT
      m.`price` AS `price`
    FROM `b1_members` AS m
    GROUP BY
      m.`price`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`price` AS `price`,
    outer_join.`asked` AS `asked`,
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
      FALSE AS `asked`
    FROM `dealers` AS dealers, `cars` AS cars
    WHERE
      cars.`price` > dealers.`rating`
    UNION ALL
    SELECT
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      cars_2.`car_id` AS `car_id`,
      cars_2.`model` AS `model`,
      cars_2.`price` AS `price`,
      cars_2.`dealer` AS `dealer_2`,
      NULL AS `dealers_dealer`,
      cars_2.`car_id` AS `cars_car_id`,
      TRUE AS `asked`
    FROM `cars` AS cars_2
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  m.`model_2` AS `model_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`price` END
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
        k.`price` IS NOT DISTINCT FROM m.`price`
    )
  )
