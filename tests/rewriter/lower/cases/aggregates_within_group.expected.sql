WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`model` AS `model_3`,
    CASE WHEN cars.`price` > 1 THEN cars.`price` END AS `percentile_cont_0_5_within_group_order_b`,
    cars.`price` AS `price`,
    CASE WHEN cars.`price` > 1 THEN cars.`dealer` END AS `listagg_dealer_within_group_order_by_pri`,
    cars.`dealer` AS `dealer`
  FROM `cars` AS cars
)
SELECT
  g.`model_3` AS `model_2`,
  g.`percentile_cont_0_5_within_group_order_b` AS `p`,
  g.`mode_within_group_order_by_price_desc` AS `most`,
  g.`listagg_dealer_within_group_order_by_pri` AS `dealers`,
  g.`listagg_distinct_dealer` AS `different`,
  g.`string_agg_distinct_dealer_within_group` AS `back`,
  g.`_prov`
FROM (
  SELECT
    m.`model_3` AS `model_3`,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY
      m.`percentile_cont_0_5_within_group_order_b` DESC) AS `percentile_cont_0_5_within_group_order_b`,
    MODE() WITHIN GROUP (ORDER BY
      m.`price` DESC) AS `mode_within_group_order_by_price_desc`,
    LISTAGG(m.`listagg_dealer_within_group_order_by_pri`, ',') WITHIN GROUP (ORDER BY
      m.`price` DESC,
      m.`car_id` ASC) AS `listagg_dealer_within_group_order_by_pri`,
    LISTAGG(DISTINCT SUBSTRING(m.`dealer`, 1), ',') WITHIN GROUP (ORDER BY
      SUBSTRING(m.`dealer`, 1) ASC) AS `listagg_distinct_dealer`,
    STRING_AGG(DISTINCT m.`listagg_dealer_within_group_order_by_pri`) WITHIN GROUP (ORDER BY
      m.`listagg_dealer_within_group_order_by_pri` DESC) AS `string_agg_distinct_dealer_within_group`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'cars',
        m.`car_id`,
        'percentile_cont_0_5_within_group_order_b_value',
        NAMED_STRUCT('_1', 0.5, '_2', m.`percentile_cont_0_5_within_group_order_b`),
        'mode_within_group_order_by_price_desc_value',
        m.`price`,
        'listagg_dealer_within_group_order_by_pri_value',
        NAMED_STRUCT(
          '_1',
          m.`listagg_dealer_within_group_order_by_pri`,
          '_2',
          ',',
          '_3',
          m.`price`,
          '_4',
          m.`car_id`
        ),
        'listagg_distinct_dealer_value',
        NAMED_STRUCT('_1', SUBSTRING(m.`dealer`, 1), '_2', ',', '_3', SUBSTRING(m.`dealer`, 1)),
        'string_agg_distinct_dealer_within_group_value',
        NAMED_STRUCT(
          '_1',
          m.`listagg_dealer_within_group_order_by_pri`,
          '_2',
          m.`listagg_dealer_within_group_order_by_pri`
        )
      )
    ) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`model_3`
) AS g
