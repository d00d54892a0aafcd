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
-- expected
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

-- title: pivot
SELECT * FROM (SELECT model, dealer, price FROM cars) PIVOT (sum(price) AS s, count(*) AS n FOR dealer IN (1 AS one, NULL))
-- expected
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
-- expected
WITH `b0_members` AS (
  SELECT
    dealers.`dealer` AS `dealer`,
    range_.`id` AS `id_3`,
    dealers.`city` AS `city`
  FROM RANGE(1, 9, 2) AS range_(`id`), `dealers` AS dealers
  WHERE
    dealers.`dealer` = range_.`id`
)
SELECT
  g.`id_3` AS `id_2`,
  g.`count_city` AS `n`,
  g.`_prov`
FROM (
  SELECT
    m.`id_3` AS `id_3`,
    COUNT(m.`city`) AS `count_city`,
    COLLECT_LIST(NAMED_STRUCT('dealers', m.`dealer`, 'count_city_value', m.`city`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`id_3`
) AS g
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

-- title: select project join
SELECT c.model, d.city, c.price * 2 AS twice FROM cars c JOIN dealers d ON c.dealer = d.dealer WHERE c.price > 10
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    dealers.`dealer` AS `dealer`,
    cars.`model` AS `model_2`,
    dealers.`city` AS `city_2`,
    cars.`price` * 2 AS `twice`
  FROM `cars` AS cars, `dealers` AS dealers
  WHERE
    cars.`dealer` = dealers.`dealer` AND cars.`price` > 10
)
SELECT
  m.`model_2` AS `model_2`,
  m.`city_2` AS `city_2`,
  m.`twice` AS `twice`,
  NAMED_STRUCT('cars', m.`car_id`, 'dealers', m.`dealer`) AS `_prov`
FROM `b0_members` AS m
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
-- expected
WITH `b0_members` AS (
  SELECT
    cars.`car_id` AS `car_id`,
    cars_2.`car_id` AS `car_id_2`,
    cars.`model` AS `model_3`
  FROM `cars` AS cars, `cars` AS cars_2
  WHERE
    cars.`dealer` = cars_2.`dealer` AND cars.`price` < cars_2.`price`
)
SELECT
  m.`model_3` AS `model_3`,
  NAMED_STRUCT('cars', m.`car_id`, 'cars_2', m.`car_id_2`) AS `_prov`
FROM `b0_members` AS m

-- title: struct field
SELECT st.a.b AS f, arr[0].c AS c, sum(st.x + 1) FROM nested WHERE st.a.b > 1 GROUP BY st.a.b, arr[0].c
-- expected
WITH `b0_members` AS (
  SELECT
    nested.`id` AS `id`,
    nested.`st`.`a`.`b` AS `b`,
    nested.`arr`[0].c AS `c_2`,
    nested.`st`.`x` + 1 AS `sum_st_x_1_2`
  FROM `nested` AS nested
  WHERE
    nested.`st`.`a`.`b` > 1
)
SELECT
  g.`b` AS `f`,
  g.`c_2` AS `c`,
  g.`sum_st_x_1_2` AS `sum_st_x_1`,
  g.`_prov`
FROM (
  SELECT
    m.`b` AS `b`,
    m.`c_2` AS `c_2`,
    SUM(m.`sum_st_x_1_2`) AS `sum_st_x_1_2`,
    COLLECT_LIST(NAMED_STRUCT('nested', m.`id`, 'sum_st_x_1_2_value', m.`sum_st_x_1_2`)) AS `_prov`
  FROM `b0_members` AS m
  GROUP BY
    m.`b`,
    m.`c_2`
) AS g

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
-- expected
WITH `b1_members` AS (
  SELECT
    dealers_2.`dealer` AS `dealer`
  FROM `dealers` AS dealers_2
), `b1` AS (
  SELECT
    g.`k1` AS `k1`
  FROM (
    SELECT
      m.`dealer` AS `k1`
    FROM `b1_members` AS m
    GROUP BY
      m.`dealer`
  ) AS g
), `b0_members` AS (
  SELECT
    outer_join.`dealers_dealer` AS `dealers_dealer`,
    outer_join.`col1_2` AS `col1_2`,
    outer_join.`asked` AS `asked`,
    outer_join.`city` AS `city_2`,
    outer_join.`col2_2` AS `q`,
    outer_join.`position` AS `position`
  FROM (
    SELECT
      values_.`col1` AS `col1_2`,
      values_.`col2` AS `col2_2`,
      dealers.`dealer` AS `dealer`,
      dealers.`city` AS `city`,
      dealers.`rating` AS `rating`,
      dealers.`dealer` AS `dealers_dealer`,
      values_.`position` AS `position`,
      FALSE AS `asked`
    FROM (
      VALUES
        (1, 'x', 0),
        (2, NULL, 1)
    ) AS values_(`col1`, `col2`, `position`), `dealers` AS dealers
    WHERE
      dealers.`dealer` = values_.`col1`
    UNION ALL
    SELECT
      values__2.`col1` AS `col1_2`,
      values__2.`col2` AS `col2_2`,
      NULL AS `dealer`,
      NULL AS `city`,
      NULL AS `rating`,
      NULL AS `dealers_dealer`,
      values__2.`position` AS `position`,
      TRUE AS `asked`
    FROM (
      VALUES
        (1, 'x', 0),
        (2, NULL, 1)
    ) AS values__2(`col1`, `col2`, `position`)
  ) AS outer_join
)
SELECT
  m.`city_2` AS `city_2`,
  m.`q` AS `q`,
  NAMED_STRUCT('dealers', m.`dealers_dealer`, 'b1_absent', CASE WHEN m.`asked` THEN m.`col1_2` END) AS `_prov`
FROM `b0_members` AS m
WHERE
  (
    NOT m.`asked`
    OR NOT EXISTS(
      SELECT
        1
      FROM `b1` AS k
      WHERE
        k.`k1` = m.`col1_2`
    )
  )
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
-- expected
WITH `b1_members` AS (
  SELECT
    cars_2.`car_id` AS `car_id`,
    cars_2.`model` AS `model_2`
  FROM `cars` AS cars_2
), `b1` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`model_2` AS `model_2`,
    NAMED_STRUCT('cars_2', m.`car_id`) AS `_prov`
  FROM `b1_members` AS m
), `b2_members` AS (
  SELECT
    cars_3.`car_id` AS `car_id`,
    b1.`car_id` AS `b1_car_id`,
    cars_3.`dealer` AS `dealer_3`
  FROM `b1` AS b1, `cars` AS cars_3
  WHERE
    cars_3.`model` = b1.`model_2`
), `b2` AS (
  SELECT
    m.`car_id` AS `car_id`,
    m.`b1_car_id` AS `b1_car_id`,
    m.`dealer_3` AS `dealer_3`,
    NAMED_STRUCT('cars_3', m.`car_id`, 'b1', b1.`car_id`) AS `_prov`
  FROM `b2_members` AS m, `b1` AS b1
  WHERE
    m.`b1_car_id` IS NOT DISTINCT FROM b1.`car_id`
)
SELECT
  u.`model_2` AS `model_8`,
  u.`_prov` AS `_prov`
FROM (
  SELECT
    0 AS `_branch`,
    t.`car_id` AS `_0_car_id`,
    NULL AS `_1_car_id`,
    NULL AS `_1_b1_car_id`,
    t.`model_2` AS `model_2`,
    NAMED_STRUCT('branch', 0, 'p0', t.`_prov`, 'p1', NULL) AS `_prov`
  FROM `b1` AS t
  UNION ALL
  SELECT
    1 AS `_branch`,
    NULL AS `_0_car_id`,
    t.`car_id` AS `_1_car_id`,
    t.`b1_car_id` AS `_1_b1_car_id`,
    t.`dealer_3` AS `model_2`,
    NAMED_STRUCT('branch', 1, 'p0', NULL, 'p1', t.`_prov`) AS `_prov`
  FROM `b2` AS t
) AS u
