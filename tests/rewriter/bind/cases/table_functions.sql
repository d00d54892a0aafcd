-- title: table argument
SELECT w.a, t.b
FROM words(5, TABLE(SELECT model AS m, price FROM cars) PARTITION BY (m, price % 2) ORDER BY price DESC, least => 2) AS w(a, c)
JOIN t ON t.a = w.c
-- expected
Project: a_2 'a' := `word_2`, b_2 'b' := `b`
  InnerJoin: `a` = `size_2`
    Project: word_2 'word' := `word`, size_2 'size' := `size`
      Generate placed function: WORDS_CARRIER(`rows`, 1, 5, least => 2) as at, word, size
        Aggregate: by (partition0 := `m`, partition1 := `price_2` % 2) compute (rows := COLLECT_LIST(NAMED_STRUCT('m', `m`, 'price', `price_2`)) WITHIN GROUP (ORDER BY `price_2` DESC))
          Project: m := `model`, price_2 'price' := `price`
            Scan cars: car_id, model, price, sold, dealer
    Scan t: a, b

-- title: table argument lateral
SELECT * FROM cars, LATERAL words(TABLE(cars) PARTITION BY dealer) w(a)
-- error
UnsupportedError: LATERAL with the table function words of a relation is not supported at 1:21
  SELECT * FROM cars, LATERAL words(TABLE(cars) PARTITION BY d
                      ^^^^^^^
Leave out LATERAL: it sees no columns.
-- advised
SELECT * FROM words(TABLE(cars) PARTITION BY dealer) w(a, b)

-- title: table argument single partition
SELECT word FROM words(r => TABLE(cars) WITH SINGLE PARTITION)
-- expected
Project: word_3 'word' := `word_2`
  Project: word_2 'word' := `word`, size_2 'size' := `size`
    Generate placed function: WORDS_CARRIER(`rows`, 'r') as at, word, size
      Aggregate: by (partition0 := TRUE) compute (rows := COLLECT_LIST(NAMED_STRUCT('car_id', `car_id`, 'model', `model`, 'price', `price`, 'sold', `sold`, 'dealer', `dealer`)) WITHIN GROUP (ORDER BY))
        Scan cars: car_id, model, price, sold, dealer

-- title: table argument subquery
SELECT * FROM words(TABLE(cars) PARTITION BY (SELECT max(a) FROM t))
-- error
UnsupportedError: a subquery in PARTITION BY or ORDER BY of a relation is not supported at 1:15
  SELECT * FROM words(TABLE(cars) PARTITION BY (SELECT max(a) 
                ^^^^^
Compute it in the relation: TABLE(SELECT ...).
-- advised
SELECT * FROM words(TABLE(SELECT cars.*, m FROM cars CROSS JOIN (SELECT max(a) AS m FROM t)) PARTITION BY dealer)

-- title: table argument twice
SELECT * FROM words(TABLE(cars) PARTITION BY dealer, TABLE(dealers) PARTITION BY dealer)
-- error
UnsupportedError: the table function words of several relations is not supported at 1:15
  SELECT * FROM words(TABLE(cars) PARTITION BY dealer, TABLE(d
                ^^^^^
Join the relations first.
-- advised
SELECT * FROM words(TABLE(SELECT c.dealer, c.model, d.city FROM cars c JOIN dealers d ON c.dealer = d.dealer) PARTITION BY dealer)

-- title: table argument without name
SELECT * FROM words(TABLE(SELECT price + 1 FROM cars) WITH SINGLE PARTITION)
-- error
UnsupportedError: a table function of a relation with a column called price + 1 is not supported at 1:15
  SELECT * FROM words(TABLE(SELECT price + 1 FROM cars) WITH S
                ^^^^^
Name it: TABLE(SELECT ... AS a).
-- advised
SELECT * FROM words(TABLE(SELECT price + 1 AS a FROM cars) WITH SINGLE PARTITION)

-- title: table argument without partitions
SELECT * FROM words(TABLE(cars))
-- error
UnsupportedError: words(TABLE(...)) sees rows together that no clause brings together at 1:15
  SELECT * FROM words(TABLE(cars))
                ^^^^^
Say which: PARTITION BY their keys, or WITH SINGLE PARTITION.
-- advised
SELECT * FROM words(TABLE(cars) WITH SINGLE PARTITION)

-- title: table function
SELECT * FROM sql_keywords()
-- error
UnsupportedError: table function sql_keywords is not supported at 1:15
  SELECT * FROM sql_keywords()
                ^^^^^^^^^^^^
Store its rows in a relation and track it.
