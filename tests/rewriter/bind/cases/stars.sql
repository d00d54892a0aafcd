-- title: alias of star
SELECT t.* AS x FROM t
-- error
UnsupportedError: an alias of * is not supported at 1:8
  SELECT t.* AS x FROM t
         ^
Give an alias to each column.
-- advised
SELECT t.a AS x, t.b AS y FROM t

-- title: count of star and more
SELECT count(t.*, 1) AS n, count(DISTINCT t.*, l.x) AS m FROM t JOIN l ON a = x
-- expected
Project: n := `count_a_b_1`, m := `count_distinct_a_b_x`
  Aggregate: by () compute (count_a_b_1 'COUNT(a, b, 1)' := COUNT(`a`, `b`, 1), count_distinct_a_b_x 'COUNT(DISTINCT a, b, x)' := COUNT(DISTINCT `a`, `b`, `x`))
    InnerJoin: `a` = `x`
      Scan t: a, b
      Scan l: x, k, j

-- title: except of deep field
SELECT struct(* EXCEPT (a.b.c.d.e)) FROM t
-- error
UnsupportedError: EXCEPT of a field is not supported at 1:25
  SELECT struct(* EXCEPT (a.b.c.d.e)) FROM t
                          ^^^^^^^^^
Name the fields to keep, each as column.field.
-- advised
SELECT struct(a, b) FROM t

-- title: except of field
SELECT * EXCEPT (st.a) FROM nested
-- error
UnsupportedError: EXCEPT of a field is not supported at 1:18
  SELECT * EXCEPT (st.a) FROM nested
                   ^^^^
Name the fields to keep, each as column.field.
-- advised
SELECT st.f AS f, nested.a, arr FROM nested

-- title: except of lengths
SELECT s, x FROM (SELECT s, upper(c) AS x FROM padded)
EXCEPT
SELECT s, d FROM padded GROUP BY s, d
-- error
UnsupportedError: EXCEPT of CHAR with a text of another length has no rule at 1:8
  SELECT s, x FROM (SELECT s, upper(c) AS x FROM padded)
         ^
Convert them: CAST(... AS STRING).
-- advised
SELECT CAST(s AS STRING) AS s, x FROM (SELECT s, upper(c) AS x FROM padded) EXCEPT SELECT CAST(s AS STRING), CAST(d AS STRING) FROM padded GROUP BY s, d

-- title: except of unknown
SELECT * EXCEPT (c) FROM t
-- error
QueryError: column c is not known at 1:18
  SELECT * EXCEPT (c) FROM t
                   ^
Name a column that * means.
-- advised
SELECT * EXCEPT (b) FROM t

-- title: except of unknown qualified
SELECT * EXCEPT (u.c) FROM t
-- error
QueryError: column u.c is not known at 1:18
  SELECT * EXCEPT (u.c) FROM t
                   ^^^
Name a column that * means.
-- advised
SELECT * EXCEPT (t.b) FROM t

-- title: fields named by columns
SELECT arrays_zip(nested.arr, st.f, array(a)) AS z FROM nested WHERE exists(arrays_zip(arr, arr), e -> e.arr IS NULL)
-- expected
Project: z := TRANSFORM(ARRAYS_ZIP(COALESCE(`arr`), COALESCE(`st`.`f`), COALESCE(ARRAY(`a`))), e -> NAMED_STRUCT('arr', e.`0`, 'f', e.`1`, '2', e.`2`))
  Filter: EXISTS(TRANSFORM(ARRAYS_ZIP(COALESCE(`arr`), COALESCE(`arr`)), e -> NAMED_STRUCT('arr', e.`0`, 'arr', e.`1`)), e -> e.arr IS NULL)
    Scan nested: st, a, arr

-- title: star
SELECT * FROM t
-- expected
Project: a_2 'a' := `a`, b_2 'b' := `b`
  Scan t: a, b

-- title: star except
SELECT * EXCEPT (price, sold), cars.* EXCEPT (model) FROM cars
-- expected
Project: car_id_2 'car_id' := `car_id`, model_2 'model' := `model`, dealer_2 'dealer' := `dealer`, car_id_3 'car_id' := `car_id`, price_2 'price' := `price`, sold_2 'sold' := `sold`, dealer_3 'dealer' := `dealer`
  Scan cars: car_id, model, price, sold, dealer

-- title: star in function
SELECT struct(*), coalesce(*), struct(t.*, a AS z) FROM t
-- expected
Project: struct 'struct(*)' := STRUCT(`a` AS `a`, `b` AS `b`), coalesce 'COALESCE(*)' := COALESCE(`a`, `b`), struct_t_a_as_z 'struct(t.*, a AS z)' := STRUCT(`a` AS `a`, `b` AS `b`, `a` AS z)
  Scan t: a, b

-- title: star of comparison
SELECT a FROM t WHERE * = 1
-- error
QueryError: * cannot stand here at 1:23
  SELECT a FROM t WHERE * = 1
                        ^
Name the columns that are meant.
-- advised
SELECT a FROM t WHERE b = 1

-- title: star of struct
SELECT st.*, nested.st.* EXCEPT (f) FROM nested
-- expected
Project: f := `st`.`f`, g_h 'g h' := `st`.`g h`, g_h_2 'g h' := `st`.`g h`
  Scan nested: st, a, arr

-- title: star of unknown relation
SELECT u.* FROM t
-- error
QueryError: relation u is not known at 1:8
  SELECT u.* FROM t
         ^^^
Name a relation of FROM.
-- advised
SELECT t.* FROM t

-- title: star qualified
SELECT u.*, t.a FROM t CROSS JOIN t AS u
-- expected
Project: a_3 'a' := `a_2`, b_3 'b' := `b_2`, a_4 'a' := `a`
  InnerJoin
    Scan t: a, b
    Scan t: a_2 := a, b_2 := b

-- title: star replace
SELECT * REPLACE (1 AS a) FROM t
-- error
UnsupportedError: * REPLACE is not supported at 1:8
  SELECT * REPLACE (1 AS a) FROM t
         ^
List the columns instead.
-- advised
SELECT 1 AS a, b FROM t

-- title: struct star
SELECT a.* FROM t
-- error
UnsupportedError: a.* of a struct is not supported at 1:8
  SELECT a.* FROM t
         ^^^
Name the fields, each as column.field.
-- advised
SELECT st.f, st.`g h` FROM nested
