WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_2`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_2` AS `model_2`,
    g.`model_2` AS `m`,
    SORT_ARRAY(g.`collect_list_price`) AS `prices`
  FROM (
    SELECT
      m.`model_2` AS `model_2`,
      COLLECT_LIST(m.`price`) AS `collect_list_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_2`
  ) AS g
), `b2` AS (
  SELECT
    b1.`model_2` AS `b1_model_2`,
    generated.`n` AS `n__id`,
    b1.`m` AS `m`,
    b1.`prices` AS `prices`,
    generated.`n` AS `n`,
    generated.`p` AS `p`
  FROM `b1` AS b1
  LATERAL VIEW
  POSEXPLODE(b1.`prices`) generated AS `n`, `p`
), `b3_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    dealers.`rating` AS `k1`
  FROM `dealers` AS dealers
), `b3` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`k1` AS `k1`
    FROM `b3_members` AS m
    GROUP BY
      m.`k1`
  ) AS g
)
SELECT
  b2.`m` AS `m_2`,
  b2.`p` AS `p_2`,
  NOT b3_found.`k1` IS NULL AS `known`,
  NAMED_STRUCT('b2', NAMED_STRUCT('_1', b2.`b1_model_2`, '_2', b2.`n__id`)) AS `_prov`
FROM `b2` AS b2
LEFT JOIN `b3` AS b3_found
  ON b3_found.`k1` = b2.`p`
