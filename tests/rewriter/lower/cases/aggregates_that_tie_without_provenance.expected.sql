WITH `b0_members` AS (
  SELECT
    rates.`city` AS `city`,
    rates.`rate` AS `rate`
  FROM `rates` AS rates
)
SELECT
  g.`first_city` AS `f`,
  g.`max_by_city_rate` AS `m`,
  g.`listagg_city` AS `l`,
  g.`_prov`
FROM (
  SELECT
    MIN_BY(m.`city`, STRUCT(m.`city`)) AS `first_city`,
    MAX_BY(m.`city`, CASE WHEN NOT m.`rate` IS NULL THEN STRUCT(m.`rate`, m.`city`) END) AS `max_by_city_rate`,
    LISTAGG(m.`city`, ',') WITHIN GROUP (ORDER BY
      m.`city` ASC) AS `listagg_city`,
    COLLECT_LIST(
      NAMED_STRUCT(
        'first_city_value',
        NAMED_STRUCT('_1', m.`city`, '_2', STRUCT(m.`city`)),
        'max_by_city_rate_value',
        NAMED_STRUCT(
          '_1',
          m.`city`,
          '_2',
          CASE WHEN NOT m.`rate` IS NULL THEN STRUCT(m.`rate`, m.`city`) END
        ),
        'listagg_city_value',
        NAMED_STRUCT('_1', m.`city`, '_2', ',', '_3', m.`city`)
      )
    ) AS `_prov`
  FROM `b0_members` AS m
) AS g
