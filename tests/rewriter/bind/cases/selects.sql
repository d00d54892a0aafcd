-- title: ambiguous alias
SELECT 1 AS q, 2 AS q, q + 1 AS r FROM t
-- error
QueryError: alias q is ambiguous at 1:24
  SELECT 1 AS q, 2 AS q, q + 1 AS r FROM t
                         ^
Use another name.
-- advised
SELECT 1 AS q, 2 AS p, q + 1 AS r FROM t

-- title: ambiguous column
SELECT a FROM t JOIN t AS u ON t.a = u.a
-- error
QueryError: column a is ambiguous at 1:8
  SELECT a FROM t JOIN t AS u ON t.a = u.a
         ^
Qualify it with the name of its relation.
-- advised
SELECT t.a FROM t JOIN t AS u ON t.a = u.a

-- title: create table
CREATE TABLE z AS SELECT 1
-- error
UnsupportedError: CREATE is not a query that can be annotated at 1:1
  CREATE TABLE z AS SELECT 1
  ^^^^^^
Give a SELECT, VALUES or WITH query; run other statements with spark.sql.
-- advised
SELECT 1 AS one

-- title: empty
-- nothing
-- error
UnsupportedError: The text is empty
Give one query.
-- advised
SELECT 1 AS one

-- title: insert
INSERT INTO t SELECT 1, 2
-- error
UnsupportedError: INSERT is not a query that can be annotated at 1:1
  INSERT INTO t SELECT 1, 2
  ^^^^^^
Give a SELECT, VALUES or WITH query; run other statements with spark.sql.
-- advised
SELECT 1, 2

-- title: pipe set of unknown column
FROM t |> SET c = 1
-- error
QueryError: SET of c, which is not the name of one column, at 1:15
  FROM t |> SET c = 1
                ^
Select the columns that are meant.
-- advised
FROM t |> SELECT a, b, 1 AS c

-- title: pipe unknown column
FROM t |> SELECT a |> WHERE b > 1
-- error
QueryError: column b is not known at 1:29
  FROM t |> SELECT a |> WHERE b > 1
                              ^
Name a column of the relations in FROM.
-- advised
FROM t |> SELECT a, b |> WHERE b > 1

-- title: second statement
SELECT a FROM t; SELECT b FROM t
-- error
UnsupportedError: A second statement at 1:18
  SELECT a FROM t; SELECT b FROM t
                   ^^^^^^
Give one statement at a time.
-- advised
SELECT a FROM t

-- title: select case insensitive
SELECT MODEL, Cars.Price FROM CARS
-- expected
Project: model_2 'MODEL' := `model`, price_2 'Price' := `price`
  Scan cars: car_id, model, price, sold, dealer

-- title: select columns
SELECT model, price AS p, cars.dealer FROM cars
-- expected
Project: model_2 'model' := `model`, p := `price`, dealer_2 'dealer' := `dealer`
  Scan cars: car_id, model, price, sold, dealer

-- title: select comments
SELECT a -- the column
FROM t /* the table */
-- expected
Project: a_2 'a' := `a`
  Scan t: a, b

-- title: select duplicate names
SELECT a, a, b AS a FROM t
-- expected
Project: a_2 'a' := `a`, a_3 'a' := `a`, a_4 'a' := `b`
  Scan t: a, b

-- title: select from first
FROM t SELECT a
-- expected
Project: a_2 'a' := `a`
  Scan t: a, b

-- title: select scalars
SELECT CASE WHEN price > 1 THEN 'x' ELSE NULL END AS c, CAST(price AS DECIMAL(10, 2)) AS d,
  model LIKE 'C%' AND price BETWEEN 1 AND 2 AS e, price IN (1, 2) AS f,
  sold + INTERVAL 1 DAY AS g, DATE '2020-01-31' AS h, upper(model) || 'it''s' AS i, -price AS j
FROM cars
-- expected
Project: c := CASE WHEN `price` > 1 THEN 'x' ELSE NULL END, d := CAST(`price` AS DECIMAL(10, 2)), e := `model` LIKE 'C%' AND `price` BETWEEN 1 AND 2, f := `price` IN (1, 2), g := `sold` + INTERVAL 1 DAY, h := DATE '2020-01-31', i := UPPER(`model`) || 'it\'s', j := -`price`
  Scan cars: car_id, model, price, sold, dealer

-- title: select without from
SELECT 1 AS one, 'a' AS letter WHERE 1 = 1
-- expected
Project: one := 1, letter := 'a'
  Filter: 1 = 1
    OneRow

-- title: unknown column
SELECT a,
  missing
FROM t
-- error
QueryError: column missing is not known at 2:3
    missing
    ^^^^^^^
Name a column of the relations in FROM.
-- advised
SELECT a, b FROM t

-- title: untracked
SELECT a FROM db.missing AS m
-- error
UntrackedError: relation db.missing is not tracked at 1:15
  SELECT a FROM db.missing AS m
                ^^^^^^^^^^
Track it first: ls.track("db.missing", ...).

-- title: where
SELECT a FROM t WHERE a > 1 AND (b < 2 OR b IS NULL)
-- expected
Project: a_2 'a' := `a`
  Filter: `a` > 1 AND (`b` < 2 OR `b` IS NULL)
    Scan t: a, b
