WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`model_3` AS `model_3`,
    g.`model_3` AS `model_2`,
    g.`count` AS `n`,
    g.`sum_price` AS `s`
  FROM (
    SELECT
      m.`model_3` AS `model_3`,
      COUNT(*) AS `count`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`model_3`
  ) AS g
), `b0_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`price` AS `price`
  FROM `cars` AS cars_2
)
SELECT
  g.`n_3` AS `n_2`,
  g.`max_by_model_2_s` AS `m`,
  g.`first_price_2` AS `f`,
  g.`_prov`
FROM (
  SELECT
    b1.`n` AS `n_3`,
    MAX_BY(
      b1.`model_2`,
      CASE WHEN NOT b1.`s` IS NULL THEN STRUCT(b1.`s`, m.`car_id`, b1.`model_3`) END
    ) AS `max_by_model_2_s`,
    MIN_BY(m.`price`, STRUCT(m.`car_id`, b1.`model_3`)) AS `first_price_2`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars_2',
        m.`car_id`,
        'b1',
        b1.`model_3`,
        'max_by_model_2_s_value',
        NAMED_STRUCT(
          '_1',
          b1.`model_2`,
          '_2',
          CASE WHEN NOT b1.`s` IS NULL THEN STRUCT(b1.`s`, m.`car_id`, b1.`model_3`) END
        ),
        'first_price_2_value',
        NAMED_STRUCT('_1', m.`price`, '_2', STRUCT(m.`car_id`, b1.`model_3`))
      )
    ) AS `_prov`
  FROM `b0_members` AS m, `b1` AS b1
  WHERE
    m.`price` > b1.`n`
  GROUP BY
    b1.`n`
) AS g
