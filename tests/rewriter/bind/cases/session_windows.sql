-- title: session window
SELECT upper(model) AS m, session_window.end, count(*) AS n FROM cars GROUP BY m, session_window(sold, '1 day')
-- expected
Project: m := `m_2`, end := `session_window_2`.`end`, n := `count`
  Aggregate: by (m_2 'm' := UPPER(`model`), session_window_2 'session_window' := `session_window_3`) compute (count 'COUNT(*)' := COUNT(*))
    Project: car_id := `car_id`, model := `model`, price := `price`, sold := `sold`, dealer := `dealer`, session_window := `session_window`, session_window_3 'session_window' := NAMED_STRUCT('start', `first`, 'end', `last`)
      Windows: last := MAX(`session_window`.end) OVER (PARTITION BY UPPER(`model`), `first`)
        Windows: first := MAX(CASE WHEN `session_window`.start <= `before` THEN NULL ELSE `session_window`.start END) OVER (PARTITION BY UPPER(`model`) ORDER BY `session_window`.start RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
          Windows: before := MAX(`session_window`.end) OVER (PARTITION BY UPPER(`model`) ORDER BY `session_window`.start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            Generate: ARRAY(SESSION_WINDOW(`sold`, '1 day')) as pos, session_window
              Scan cars: car_id, model, price, sold, dealer

-- title: session window aggregated
SELECT session_window(sold, '5 minutes') AS w, min(session_window.end) FROM cars GROUP BY 1
-- error
UnsupportedError: an aggregate of the session window that rows are grouped by has no rule at 1:82
  session_window.end) FROM cars GROUP BY 1
                                ^^^^^^^^
Aggregate its start and end in a derived table, as columns of their own.
-- advised
SELECT w, min(e) FROM (SELECT session_window(sold, '5 minutes') AS w, session_window(sold, '5 minutes').end AS e FROM cars) GROUP BY w

-- title: session window by field
SELECT session_window(sold, '5 minutes').start AS s, count(*) AS n FROM cars GROUP BY session_window(sold, '5 minutes').start
-- expected
Project: s := `start`, n := `count`
  Aggregate: by (start := `session_window`.`start`) compute (count 'COUNT(*)' := COUNT(*))
    Generate: ARRAY(SESSION_WINDOW(`sold`, '5 minutes')) as pos, session_window
      Scan cars: car_id, model, price, sold, dealer

-- title: session window except
SELECT session_window(sold, '5 minutes') AS w FROM cars EXCEPT SELECT session_window(sold, '9 minutes') FROM cars
-- error
UnsupportedError: EXCEPT of session windows has no rule at 1:8
  SELECT session_window(sold, '5 minutes') AS w FROM cars EXCE
         ^^^^^^^^^^^^^^
Compare the starts and ends of the windows, as columns of their own.
-- advised
SELECT s, e FROM (SELECT session_window(sold, '5 minutes').start AS s, session_window(sold, '5 minutes').end AS e FROM cars) EXCEPT SELECT s, e FROM (SELECT session_window(sold, '9 minutes').start AS s, session_window(sold, '9 minutes').end AS e FROM cars)

-- title: session window in sets
SELECT session_window(sold, '5 minutes') AS w, model FROM cars GROUP BY CUBE (session_window(sold, '5 minutes'), model)
-- error
UnsupportedError: a session window in grouping sets is not supported at 1:64
  nutes') AS w, model FROM cars GROUP BY CUBE (session_window(
                                ^^^^^^^^
Compute the sessions in a derived table, grouped by every key.
-- advised
SELECT w.start, model, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars GROUP BY session_window(sold, '5 minutes'), model) GROUP BY CUBE (w.start, model)

-- title: session window merged again
SELECT DISTINCT w FROM (SELECT session_window(sold, '5 minutes') AS w, model, count(*) AS n FROM cars GROUP BY 1, model) UNION ALL SELECT w FROM (SELECT session_window(sold, '5 minutes') AS w FROM cars) GROUP BY w
-- expected
UnionAll: w_8 'w'
  Aggregate: by (w_4 'w' := `session_window_3`) compute ()
    Project: w_3 'w' := `w_3`, session_window_3 'session_window' := NAMED_STRUCT('start', `first_2`, 'end', `last_2`)
      Windows: last_2 'last' := MAX(`w_3`.end) OVER (PARTITION BY `first_2`)
        Windows: first_2 'first' := MAX(CASE WHEN `w_3`.start <= `before_2` THEN NULL ELSE `w_3`.start END) OVER (ORDER BY `w_3`.start RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
          Windows: before_2 'before' := MAX(`w_3`.end) OVER (ORDER BY `w_3`.start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
            Project: w_3 'w' := `w`
              Project: w := `w_2`, model_2 'model' := `model_3`, n := `count`
                Aggregate: by (w_2 'w' := `session_window_2`, model_3 'model' := `model`) compute (count 'COUNT(*)' := COUNT(*))
                  Project: car_id := `car_id`, model := `model`, price := `price`, sold := `sold`, dealer := `dealer`, session_window := `session_window`, session_window_2 'session_window' := NAMED_STRUCT('start', `first`, 'end', `last`)
                    Windows: last := MAX(`session_window`.end) OVER (PARTITION BY `model`, `first`)
                      Windows: first := MAX(CASE WHEN `session_window`.start <= `before` THEN NULL ELSE `session_window`.start END) OVER (PARTITION BY `model` ORDER BY `session_window`.start RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
                        Windows: before := MAX(`session_window`.end) OVER (PARTITION BY `model` ORDER BY `session_window`.start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
                          Generate: ARRAY(SESSION_WINDOW(`sold`, '5 minutes')) as pos, session_window
                            Scan cars: car_id, model, price, sold, dealer
  Project: w_6 'w' := `w_7`
    Aggregate: by (w_7 'w' := `session_window_5`) compute ()
      Project: w_5 'w' := `w_5`, session_window_5 'session_window' := NAMED_STRUCT('start', `first_3`, 'end', `last_3`)
        Windows: last_3 'last' := MAX(`w_5`.end) OVER (PARTITION BY `first_3`)
          Windows: first_3 'first' := MAX(CASE WHEN `w_5`.start <= `before_3` THEN NULL ELSE `w_5`.start END) OVER (ORDER BY `w_5`.start RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
            Windows: before_3 'before' := MAX(`w_5`.end) OVER (ORDER BY `w_5`.start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
              Project: w_5 'w' := `session_window_4`
                Generate: ARRAY(SESSION_WINDOW(`sold_2`, '5 minutes')) as pos_2 'pos', session_window_4 'session_window'
                  Scan cars: car_id_2 := car_id, model_4 := model, price_2 := price, sold_2 := sold, dealer_2 := dealer

-- title: session window of rows
SELECT session_window(sold, '5 minutes') AS w FROM cars
-- expected
Project: w := `session_window`
  Generate: ARRAY(SESSION_WINDOW(`sold`, '5 minutes')) as pos, session_window
    Scan cars: car_id, model, price, sold, dealer

-- title: session window of several
SELECT a.w, b.w, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars) a JOIN (SELECT session_window(sold, '9 minutes') AS w, model FROM cars) b ON a.model = b.model GROUP BY a.w, b.w
-- error
UnsupportedError: a grouping by several session windows has no rule at 1:192
   cars) b ON a.model = b.model GROUP BY a.w, b.w
                                ^^^^^^^^
Group by one of them, and by fields of the others.
-- advised
SELECT a.w, b.w.start, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars) a JOIN (SELECT session_window(sold, '9 minutes') AS w, model FROM cars) b ON a.model = b.model GROUP BY a.w, b.w.start

-- title: session window taken of struct
SELECT s.w, count(*) FROM (SELECT struct(session_window(sold, '5 minutes') AS w, model) AS s FROM cars) GROUP BY s.w
-- error
UnsupportedError: a grouping by what is taken of a value that holds session windows has no rule at 1:105
   AS w, model) AS s FROM cars) GROUP BY s.w
                                ^^^^^^^^
Make the window a column of its own, or group by its start and end.
-- advised
SELECT w, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars) GROUP BY w
