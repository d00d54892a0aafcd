WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    outer_.`rating` AS `rating`
  FROM `cars` AS cars, (
    SELECT DISTINCT
      dealers_2.`rating` AS `rating`
    FROM `dealers` AS dealers_2
  ) AS outer_
  WHERE
    cars.`price` > outer_.`rating`
), `b1` AS (
  SELECT
    g.`rating` AS `rating`
  FROM (
    SELECT
      m.`rating` AS `rating`
    FROM `b1_members` AS m
    GROUP BY
      m.`rating`
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
  NAMED_STRUCT('dealers', m.`dealer`, 'b1_exists', m.`rating`) AS `_prov`
FROM `b0_members` AS m
WHERE
  EXISTS(
    SELECT
      1
    FROM `b1` AS k
    WHERE
      k.`rating` IS NOT DISTINCT FROM m.`rating`
  )
