WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`max_model_3` AS `max_model`
  FROM (
    SELECT
      MAX(m.`model`) AS `max_model_3`
    FROM `b1_members` AS m
  ) AS g
), `b2_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `k1`
  FROM `cars` AS cars_2
), `b2` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b2_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
), `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`city` AS `city_3`
  FROM `dealers` AS dealers
)
SELECT
  g.`city_3` AS `city_2`,
  g.`count_2` AS `count`,
  g.`_prov`
FROM (
  SELECT
    m.`city_3` AS `city_3`,
    COUNT(*) AS `count_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'dealers',
        m.`dealer`,
        'b2_exists',
        (
          SELECT
            b1_value.`max_model`
          FROM `b1` AS b1_value
        )
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  WHERE
    EXISTS(
      SELECT
        1
      FROM `b2` AS k
      WHERE
        k.`k1` = (
          SELECT
            b1_value.`max_model`
          FROM `b1` AS b1_value
        )
    )
  GROUP BY
    m.`city_3`
) AS g
