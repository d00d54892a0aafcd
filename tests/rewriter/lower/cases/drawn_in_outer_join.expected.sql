WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model`,
    cars.`price` AS `price`,
    cars.`dealer` AS `dealer`,
    RAND() AS `drawn`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id__id`,
    m.`car_id` AS `car_id`,
    m.`model` AS `model`,
    m.`price` AS `price`,
    m.`dealer` AS `dealer`,
    m.`drawn` AS `drawn`
  FROM `b1_members` AS m
), `b3_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`,
    b1_2.`car_id__id` AS `b1_2_car_id__id`,
    b1_2.`car_id` AS `car_id_2`,
    b1_2.`model` AS `model_2`,
    b1_2.`price` AS `price_2`,
    b1_2.`dealer` AS `dealer_2`,
    b1_2.`drawn` AS `r`,
    dealers_2.`city` AS `city`,
    dealers_2.`rating` AS `rating`
  FROM `b1` AS b1_2, `dealers` AS dealers_2
  WHERE
    b1_2.`dealer` = dealers_2.`dealer` AND b1_2.`drawn` < 0.5
), `b3` AS (
  SELECT
    m.`dealer` AS `dealer`,
    m.`b1_2_car_id__id` AS `b1_2_car_id__id`,
    m.`car_id_2` AS `car_id_2`,
    m.`model_2` AS `model_2`,
    m.`price_2` AS `price_2`,
    m.`dealer_2` AS `dealer_2`,
    m.`r` AS `r`,
    m.`dealer` AS `dealer_3`,
    m.`city` AS `city`,
    m.`rating` AS `rating`,
    NAMED_STRUCT('dealers_2', m.`dealer`, 'b1_2', b1_2.`car_id__id`) AS `_prov`
  FROM `b3_members` AS m, `b1` AS b1_2
  WHERE
    m.`b1_2_car_id__id` IS NOT DISTINCT FROM b1_2.`car_id__id`
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
), `b4` AS (
  SELECT
    b1_3.`car_id__id` AS `b1_3_car_id__id`,
    b1_3.`car_id` AS `car_id_2`,
    b1_3.`model` AS `model_2`,
    b1_3.`price` AS `price_2`,
    b1_3.`dealer` AS `dealer_2`,
    b1_3.`drawn` AS `r`,
    NULL AS `dealer_3`,
    NULL AS `city`,
    NULL AS `rating`,
    NAMED_STRUCT(
      'b1_3',
      b1_3.`car_id__id`,
      'b2_absent',
      CASE WHEN COALESCE((
        b1_3.`drawn` < 0.5
      ), FALSE) THEN b1_3.`dealer` END
    ) AS `_prov`
  FROM `b1` AS b1_3
  WHERE
    (
      NOT COALESCE((
        b1_3.`drawn` < 0.5
      ), FALSE)
      OR NOT EXISTS(
        SELECT
          1
        FROM `b2` AS k
        WHERE
          k.`k1` = b1_3.`dealer`
      )
    )
)
SELECT
  u.`car_id_2` AS `car_id_3`,
  u.`city` AS `city_2`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`dealer` AS `_0_dealer`,
    t.`b1_2_car_id__id` AS `_0_b1_2_car_id__id`,
    NULL AS `_1_b1_3_car_id__id`,
    t.`car_id_2` AS `car_id_2`,
    t.`model_2` AS `model_2`,
    t.`price_2` AS `price_2`,
    t.`dealer_2` AS `dealer_2`,
    t.`r` AS `r`,
    t.`dealer_3` AS `dealer_3`,
    t.`city` AS `city`,
    t.`rating` AS `rating`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b3` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_dealer`,
    NULL AS `_0_b1_2_car_id__id`,
    t.`b1_3_car_id__id` AS `_1_b1_3_car_id__id`,
    t.`car_id_2` AS `car_id_2`,
    t.`model_2` AS `model_2`,
    t.`price_2` AS `price_2`,
    t.`dealer_2` AS `dealer_2`,
    t.`r` AS `r`,
    NULL AS `dealer_3`,
    NULL AS `city`,
    NULL AS `rating`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b4` AS t
) AS u
