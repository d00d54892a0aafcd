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
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`cars_car_id` AS `cars_car_id`,
    outer_join.`dealer` AS `dealer`,
    outer_join.`asked` AS `asked`,
    outer_join.`price` AS `price`,
    outer_join.`city` AS `city_2`
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
      cars.`dealer` = dealers.`dealer`
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
      TRUE AS `asked`
    FROM `dealers` AS dealers_2
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  generated.`e` AS `e_2`,
  NAMED_STRUCT(
    'dealers',
    m.`dealers_dealer`,
    'cars',
    m.`cars_car_id`,
    'b1_absent',
    CASE WHEN m.`asked` THEN m.`dealer` END
  ) AS `_prov`
FROM `b0_members` AS m
LATERAL VIEW
POSEXPLODE(ARRAY(1 / COALESCE(m.`price`, 0))) generated AS `pos`, `e`
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
