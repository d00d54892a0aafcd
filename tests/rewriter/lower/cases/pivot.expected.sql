WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    CASE WHEN cars.`dealer` IS NOT DISTINCT FROM 1 THEN cars.`price` END AS `one_s_2`,
    CASE WHEN cars.`dealer` IS NOT DISTINCT FROM 1 THEN 1 END AS `one_n_2`,
    CASE WHEN cars.`dealer` IS NOT DISTINCT FROM NULL THEN cars.`price` END AS `null_s_2`,
    CASE WHEN cars.`dealer` IS NOT DISTINCT FROM NULL THEN 1 END AS `null_n_2`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_5`,
  g.`one_s_2` AS `one_s_3`,
  CASE WHEN g.`one_n_2` > 0 THEN g.`one_n_2` END AS `one_n_3`,
  g.`null_s_2` AS `null_s_3`,
  CASE WHEN g.`null_n_2` > 0 THEN g.`null_n_2` END AS `null_n_3`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    SUM(m.`one_s_2`) AS `one_s_2`,
    COUNT(m.`one_n_2`) AS `one_n_2`,
    SUM(m.`null_s_2`) AS `null_s_2`,
    COUNT(m.`null_n_2`) AS `null_n_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'one_s_2_value',
        m.`one_s_2`,
        'one_n_2_value',
        m.`one_n_2`,
        'null_s_2_value',
        m.`null_s_2`,
        'null_n_2_value',
        m.`null_n_2`
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`
) AS g
