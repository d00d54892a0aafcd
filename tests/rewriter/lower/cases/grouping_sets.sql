-- title: cube of values
SELECT n, count(*) FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer) GROUP BY CUBE (n)
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`count` AS `n`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      COUNT(*) AS `count`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
)
SELECT
  g.`n_3` AS `n_2`,
  g.`count_3` AS `count_2`,
  g.`_prov`
FROM (
  SELECT
    expanded.`number` AS `grouping_set`,
    CASE WHEN expanded.`number` IN (0) THEN b1.`n` END AS `n_3`,
    COUNT(*) AS `count_3`,
    COLLECT_LIST(NAMED_STRUCT('b1', b1.`dealer_3`)) AS `_prov`
  FROM `b1` AS b1
  LATERAL VIEW
  EXPLODE(ARRAY(0, 1)) expanded AS `number`
  GROUP BY
    expanded.`number`,
    CASE WHEN expanded.`number` IN (0) THEN b1.`n` END
) AS g
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: count := COUNT(*)
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
b0: group, identity grouping_set, n_3 (not stable, 2 grouping sets)
  lookup: b1 as b1, free
  key: grouping_set := expanded.`number`
  key: n_3 := CASE WHEN expanded.`number` IN (0) THEN b1.`n` END
  aggregate: count_3 := COUNT(*)
  output: n_2 := g.`n_3`
  output: count_2 := g.`count_3`

-- title: rollup
SELECT dealer, model, sum(price) AS total, grouping(model) AS g FROM cars GROUP BY ROLLUP (dealer, model) HAVING dealer IS NOT NULL AND sum(price) > 2
-- blocks
b0: group, identity grouping_set, dealer_3, model_3 (stable, 3 grouping sets)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: model_3 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: grouping_set := expanded.`number`
  key: dealer_3 := CASE WHEN expanded.`number` IN (0, 1) THEN m.`dealer_3` END
  key: model_3 := CASE WHEN expanded.`number` IN (0) THEN m.`model_3` END
  aggregate: sum_price := SUM(m.`price`)
  having: g.`dealer_3` IS NOT NULL
  having: g.`sum_price` > 2
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)
  output: model_2 := g.`model_3` (stable)
  output: total := g.`sum_price`
  output: g := CASE WHEN g.`grouping_set` IN (1, 2) THEN 1Y ELSE 0Y END (stable)

-- title: rollup in join
SELECT t.dealer, t.n, d.city FROM (SELECT dealer, count(*) AS n FROM cars GROUP BY dealer WITH ROLLUP HAVING count(*) > 1) t JOIN dealers d ON t.dealer <=> d.dealer WHERE t.n < 9
-- blocks
b1: group, identity grouping_set, dealer_3 (stable, 2 grouping sets)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
  token: cars as cars in car_id
  key: grouping_set := expanded.`number`
  key: dealer_3 := CASE WHEN expanded.`number` IN (0) THEN m.`dealer_3` END
  aggregate: count := COUNT(*)
  having: g.`count` > 1
  having is not monotone
  output: dealer_2 := g.`dealer_3` (stable)
  output: n := g.`count`
b0: rows, identity dealer, b1_grouping_set, b1_dealer_3 (stable)
  core:
    potential: b1 as b1
    scan: dealers as dealers
    where: b1.`dealer_2` IS NOT DISTINCT FROM dealers.`dealer`
    store: dealer := dealers.`dealer`
    store: b1_grouping_set := b1.`grouping_set`
    store: b1_dealer_3 := b1.`dealer_3`
    store: dealer_5 := b1.`dealer_2`
    store: city_2 := dealers.`city`
  token: dealers as dealers in dealer
  lookup: b1 as b1, b1_grouping_set <=> grouping_set, b1_dealer_3 <=> dealer_3
  condition: b1.`n` < 9
  key: dealer := m.`dealer`
  key: b1_grouping_set := m.`b1_grouping_set`
  key: b1_dealer_3 := m.`b1_dealer_3`
  output: dealer_5 := m.`dealer_5` (stable)
  output: n_2 := b1.`n`
  output: city_2 := m.`city_2` (stable)
