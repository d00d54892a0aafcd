-- title: cte twice
WITH g AS (SELECT dealer, sum(price) AS p FROM cars GROUP BY dealer) SELECT a.dealer FROM g a JOIN g b ON a.p > b.p
-- expected
WITH `b1_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars.`dealer` AS `dealer_3`,
    cars.`price` AS `price`
  FROM `cars` AS cars
), `b1` AS (
  SELECT
    g.`dealer_3` AS `dealer_3`,
    g.`dealer_3` AS `dealer_2`,
    g.`sum_price` AS `p`
  FROM (
    SELECT
      m.`dealer_3` AS `dealer_3`,
      SUM(m.`price`) AS `sum_price`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer_3`
  ) AS g
)
SELECT
  b1.`dealer_2` AS `dealer_6`,
  NAMED_STRUCT('b1', b1.`dealer_3`, 'b1_2', b1_2.`dealer_3`) AS `_prov`
FROM `b1` AS b1, `b1` AS b1_2
WHERE
  b1.`p` > b1_2.`p`
-- blocks
b1: group, identity dealer_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: dealer_3 := cars.`dealer`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: dealer_3 := m.`dealer_3`
  aggregate: sum_price := SUM(m.`price`)
  output: dealer_2 := g.`dealer_3` (stable)
  output: p := g.`sum_price`
b0: rows, identity b1_dealer_3, b1_2_dealer_3 (stable)
  lookup: b1 as b1, free
  lookup: b1 as b1_2, free
  condition: b1.`p` > b1_2.`p`
  key: b1_dealer_3 := b1.`dealer_3`
  key: b1_2_dealer_3 := b1_2.`dealer_3`
  output: dealer_6 := b1.`dealer_2` (stable)

-- title: lookup by what the tail takes apart
SELECT c.m, e.p, e.p IN (SELECT rating FROM dealers) AS known
FROM (SELECT model AS m, sort_array(collect_list(price)) AS prices FROM cars GROUP BY model) c
LATERAL VIEW posexplode(c.prices) e AS n, p
-- blocks
b1: group, identity model_2 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_2 := cars.`model`
    store: price := cars.`price`
  token: cars as cars in car_id
  key: model_2 := m.`model_2`
  aggregate: collect_list_price := COLLECT_LIST(m.`price`)
  output: m := g.`model_2` (stable)
  output: prices := SORT_ARRAY(g.`collect_list_price`)
b2: rows, identity b1_model_2, n__id (not stable)
  lookup: b1 as b1, free
  generate: b1.`prices` as generated(n, p)
  key: b1_model_2 := b1.`model_2`
  key: n__id := generated.`n`
  output: m := b1.`m` (stable)
  output: prices := b1.`prices`
  output: n := generated.`n`
  output: p := generated.`p`
b3: group, identity k1 (stable)
  core:
    scan: dealers as dealers
    store: dealer := dealers.`dealer`
    store: k1 := dealers.`rating`
  token: dealers as dealers in dealer
  key: k1 := m.`k1`
  output: k1 := g.`k1` (stable)
b0: rows, identity b2_b1_model_2, b2_n__id (not stable)
  lookup: b2 as b2, free
  outer lookup of values: b3_found, b3 on b2.`p` = k1
  key: b2_b1_model_2 := b2.`b1_model_2`
  key: b2_n__id := b2.`n__id`
  output: m_2 := b2.`m`
  output: p_2 := b2.`p`
  output: known := NOT b3_found.`k1` IS NULL

-- title: pivot
SELECT * FROM (SELECT model, dealer, price FROM cars) PIVOT (sum(price) AS s, count(*) AS n FOR dealer IN (1 AS one, NULL))
-- blocks
b0: group, identity model_3 (stable)
  core:
    scan: cars as cars
    store: car_id := cars.`car_id`
    store: model_3 := cars.`model`
    store: one_s_2 := CASE WHEN cars.`dealer` IS NOT DISTINCT FROM 1 THEN cars.`price` END
    store: one_n_2 := CASE WHEN cars.`dealer` IS NOT DISTINCT FROM 1 THEN 1 END
    store: null_s_2 := CASE WHEN cars.`dealer` IS NOT DISTINCT FROM NULL THEN cars.`price` END
    store: null_n_2 := CASE WHEN cars.`dealer` IS NOT DISTINCT FROM NULL THEN 1 END
  token: cars as cars in car_id
  key: model_3 := m.`model_3`
  aggregate: one_s_2 := SUM(m.`one_s_2`)
  aggregate: one_n_2 := COUNT(m.`one_n_2`)
  aggregate: null_s_2 := SUM(m.`null_s_2`)
  aggregate: null_n_2 := COUNT(m.`null_n_2`)
  output: model_5 := g.`model_3` (stable)
  output: one_s_3 := g.`one_s_2`
  output: one_n_3 := CASE WHEN g.`one_n_2` > 0 THEN g.`one_n_2` END
  output: null_s_3 := g.`null_s_2`
  output: null_n_3 := CASE WHEN g.`null_n_2` > 0 THEN g.`null_n_2` END

-- title: range
SELECT r.id, count(d.city) AS n FROM range(1, 9, 2) AS r JOIN dealers AS d ON d.dealer = r.id GROUP BY r.id
-- blocks
b0: group, identity id_3 (stable)
  core:
    constant: RANGE(1, 9, 2) as range_(id)
    scan: dealers as dealers
    where: dealers.`dealer` = range_.`id`
    store: dealer := dealers.`dealer`
    store: id_3 := range_.`id`
    store: city := dealers.`city`
  token: dealers as dealers in dealer
  key: id_3 := m.`id_3`
  aggregate: count_city := COUNT(m.`city`)
  output: id_2 := g.`id_3` (stable)
  output: n := g.`count_city`

-- title: recursive join
WITH RECURSIVE c(seller, city) MAX RECURSION LEVEL 2 AS (
  SELECT dealer, city FROM dealers WHERE rating > 3
  UNION ALL
  SELECT d.dealer, d.city FROM c JOIN dealers AS d ON c.city = d.dealer
)
SELECT city, count(*) AS n FROM c GROUP BY city
-- expected
WITH `b0_members` AS (
  SELECT
    recursion.`c1` AS `city_9`
  FROM `_lipstick_level` AS recursion
)
SELECT
  g.`city_9` AS `city_8`,
  g.`count` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`city_9` AS `city_9`,
    COUNT(*) AS `count`,
    COLLECT_LIST(NAMED_STRUCT('one', 1)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`city_9`
) AS g
-- blocks
b0: group, identity city_9 (stable)
  core:
    recursion: _lipstick_level as recursion
    store: city_9 := recursion.`c1`
  key: city_9 := m.`city_9`
  aggregate: count := COUNT(*)
  output: city_8 := g.`city_9` (stable)
  output: n := g.`count`

-- title: select project join
SELECT c.model, d.city, c.price * 2 AS twice FROM cars c JOIN dealers d ON c.dealer = d.dealer WHERE c.price > 10
-- blocks
b0: rows, identity car_id, dealer (stable)
  core:
    scan: cars as cars
    scan: dealers as dealers
    where: cars.`dealer` = dealers.`dealer`
    where: cars.`price` > 10
    store: car_id := cars.`car_id`
    store: dealer := dealers.`dealer`
    store: model_2 := cars.`model`
    store: city_2 := dealers.`city`
    store: twice := cars.`price` * 2
  token: cars as cars in car_id
  token: dealers as dealers in dealer
  key: car_id := m.`car_id`
  key: dealer := m.`dealer`
  output: model_2 := m.`model_2` (stable)
  output: city_2 := m.`city_2` (stable)
  output: twice := m.`twice` (stable)

-- title: self join
SELECT a.model FROM cars a JOIN cars b ON a.dealer = b.dealer AND a.price < b.price
-- blocks
b0: rows, identity car_id, car_id_2 (stable)
  core:
    scan: cars as cars
    scan: cars as cars_2
    where: cars.`dealer` = cars_2.`dealer`
    where: cars.`price` < cars_2.`price`
    store: car_id := cars.`car_id`
    store: car_id_2 := cars_2.`car_id`
    store: model_3 := cars.`model`
  token: cars as cars in car_id
  token: cars as cars_2 in car_id_2
  key: car_id := m.`car_id`
  key: car_id_2 := m.`car_id_2`
  output: model_3 := m.`model_3` (stable)

-- title: struct field
SELECT st.a.b AS f, arr[0].c AS c, sum(st.x + 1) FROM nested WHERE st.a.b > 1 GROUP BY st.a.b, arr[0].c
-- blocks
b0: group, identity b, c_2 (stable)
  core:
    scan: nested as nested
    where: nested.`st`.`a`.`b` > 1
    store: id := nested.`id`
    store: b := nested.`st`.`a`.`b`
    store: c_2 := nested.`arr`[0].c
    store: sum_st_x_1_2 := nested.`st`.`x` + 1
  token: nested as nested in id
  key: b := m.`b`
  key: c_2 := m.`c_2`
  aggregate: sum_st_x_1_2 := SUM(m.`sum_st_x_1_2`)
  output: f := g.`b` (stable)
  output: c := g.`c_2` (stable)
  output: sum_st_x_1 := g.`sum_st_x_1_2`

-- title: unpivot
SELECT car_id, n, v FROM (SELECT car_id, price, dealer FROM cars) UNPIVOT (v FOR n IN (price, dealer AS d))
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    generated.`n` AS `n_2`,
    generated.`v` AS `v_2`,
    generated_at.`pos` AS `pos`
  FROM `cars` AS cars
  LATERAL VIEW
  POSEXPLODE(
    ARRAY(
      NAMED_STRUCT('col0', 'price', 'col1', cars.`price`),
      NAMED_STRUCT('col0', 'd', 'col1', cars.`dealer`)
    )
  ) generated_at AS `pos`, `_element`
  LATERAL VIEW
  INLINE(ARRAY(generated_at.`_element`)) generated AS `n`, `v`
  WHERE
    NOT generated.`v` IS NULL
)
SELECT
  m.`car_id` AS `car_id_3`,
  m.`n_2` AS `n_2`,
  m.`v_2` AS `v_2`,
  NAMED_STRUCT('cars', m.`car_id`) AS `_prov`
FROM `b0_members` AS m
-- blocks
b0: rows, identity car_id, pos (stable)
  core:
    scan: cars as cars
    generate inline: ARRAY(NAMED_STRUCT('col0', 'price', 'col1', cars.`price`), NAMED_STRUCT('col0', 'd', 'col1', cars.`dealer`)) as generated(pos, n, v)
    where: NOT generated.`v` IS NULL
    store: car_id := cars.`car_id`
    store: n_2 := generated.`n`
    store: v_2 := generated.`v`
    store: pos := generated_at.`pos`
  token: cars as cars in car_id
  key: car_id := m.`car_id`
  key: pos := m.`pos`
  output: car_id_3 := m.`car_id` (stable)
  output: n_2 := m.`n_2` (stable)
  output: v_2 := m.`v_2` (stable)

-- title: values
SELECT d.city, v.q FROM VALUES (1, 'x'), (2, NULL) AS v(p, q) LEFT JOIN dealers AS d ON d.dealer = v.p
-- blocks
b1: group, identity k1 (stable)
  core:
    scan: dealers as dealers_2
    store: dealer := dealers_2.`dealer`
  token: dealers as dealers_2 in dealer
  key: k1 := m.`dealer`
  output: k1 := g.`k1` (stable)
b0: rows, identity dealers_dealer, position (stable)
  core:
    union: outer_join
      branch:
        constant: VALUES (1, 'x', 0), (2, NULL, 1) as values_(col1, col2, position)
        scan: dealers as dealers
        where: dealers.`dealer` = values_.`col1`
        store: col1_2 := values_.`col1`
        store: col2_2 := values_.`col2`
        store: dealer := dealers.`dealer`
        store: city := dealers.`city`
        store: rating := dealers.`rating`
        store: dealers_dealer := dealers.`dealer`
        store: position := values_.`position`
        store: asked := FALSE
      branch:
        constant: VALUES (1, 'x', 0), (2, NULL, 1) as values__2(col1, col2, position)
        store: col1_2 := values__2.`col1`
        store: col2_2 := values__2.`col2`
        store: dealer := NULL
        store: city := NULL
        store: rating := NULL
        store: dealers_dealer := NULL
        store: position := values__2.`position`
        store: asked := TRUE
    store: dealers_dealer := outer_join.`dealers_dealer`
    store: col1_2 := outer_join.`col1_2`
    store: asked := outer_join.`asked`
    store: city_2 := outer_join.`city`
    store: q := outer_join.`col2_2`
    store: position := outer_join.`position`
  token: dealers as dealers in dealers_dealer
  semi: not b1 on m.`col1_2` = k1 if m.`asked`
  key: dealers_dealer := m.`dealers_dealer`
  key: position := m.`position`
  output: city_2 := m.`city_2` (stable)
  output: q := m.`q` (stable)

-- title: recursive unfolded
SELECT * FROM (WITH RECURSIVE c AS (SELECT model FROM cars UNION ALL SELECT dealer FROM c JOIN cars ON cars.model = c.model) SELECT model FROM c) AS t
-- blocks
b1: rows, identity car_id (stable)
  core:
    scan: cars as cars_2
    store: car_id := cars_2.`car_id`
    store: model_2 := cars_2.`model`
  token: cars as cars_2 in car_id
  key: car_id := m.`car_id`
  output: model_2 := m.`model_2` (stable)
b2: rows, identity car_id, b1_car_id (stable)
  core:
    potential: b1 as b1
    scan: cars as cars_3
    where: cars_3.`model` = b1.`model_2`
    store: car_id := cars_3.`car_id`
    store: b1_car_id := b1.`car_id`
    store: dealer_3 := cars_3.`dealer`
  token: cars as cars_3 in car_id
  lookup: b1 as b1, b1_car_id <=> car_id
  key: car_id := m.`car_id`
  key: b1_car_id := m.`b1_car_id`
  output: dealer_3 := m.`dealer_3` (stable)
b0: union, identity _branch, _0_car_id, _1_car_id, _1_b1_car_id (stable)
  branch: b1
  branch: b2
  output: model_8 := u.`model_2` (stable)
