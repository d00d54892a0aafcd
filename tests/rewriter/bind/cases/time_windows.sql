-- title: time window in order
SELECT car_id, window(sold, '1 day') AS w FROM cars ORDER BY window(sold, '1 day')
-- error
UnsupportedError: a time window cannot stand here at 1:62
  day') AS w FROM cars ORDER BY window(sold, '1 day')
                                ^^^^^^
Compute it in the select list of a derived table.
-- advised
SELECT car_id, w FROM (SELECT car_id, window(sold, '1 day') AS w FROM cars) ORDER BY w

-- title: time window in where
SELECT id FROM cars WHERE window(sold, '1 day').start > now()
-- error
UnsupportedError: a time window cannot stand here at 1:27
  SELECT id FROM cars WHERE window(sold, '1 day').start > now(
                            ^^^^^^
Compute it in the select list of a derived table.
-- advised
SELECT car_id FROM (SELECT car_id, window(sold, '1 day') AS w FROM cars) WHERE w.start > now()

-- title: time window length
SELECT window(sold, '1 month') AS a FROM cars
-- error
UnsupportedError: a time window of these lengths is not supported at 1:8
  SELECT window(sold, '1 month') AS a FROM cars
         ^^^^^^
Give width, slide and start as texts in weeks or less: window(t, '1 hour').
-- advised
SELECT window(sold, '4 weeks') AS a FROM cars

-- title: time window of windows
SELECT window.start, sum(n) AS n FROM (SELECT w AS v, n FROM (SELECT window(sold, '1 hour') AS w, count(*) AS n FROM cars GROUP BY 1)) GROUP BY window(v, '1 day')
-- expected
Project: start := `window_3`.`start`, n_3 'n' := `sum_n_2`
  Aggregate: by (window_3 'window' := `window_2`) compute (sum_n_2 'SUM(n_2)' := SUM(`n_2`))
    Generate: ARRAY(WINDOW(((`v`).end - MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 0.000001)), '86400000000 microseconds', '86400000000 microseconds', '0 microseconds')) as pos_2 'pos', window_2 'window'
      Project: v := `w`, n_2 'n' := `n`
        Project: w := `w_2`, n := `count`
          Aggregate: by (w_2 'w' := `window`) compute (count 'COUNT(*)' := COUNT(*))
            Generate: ARRAY(WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds')) as pos, window
              Scan cars: car_id, model, price, sold, dealer

-- title: time windows
SELECT window.start, window_time(w) AS t, count(*) AS n FROM (SELECT *, window(sold, '90 minutes', '1 hour') AS w FROM cars) GROUP BY window(sold, '1 day'), w
-- expected
Project: start := `window_3`.`start`, t := `w_2`.end - MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 0.000001), n := `count`
  Aggregate: by (window_3 'window' := `window_2`, w_2 'w' := `w`) compute (count 'COUNT(*)' := COUNT(*))
    Generate: ARRAY(WINDOW(`sold_2`, '86400000000 microseconds', '86400000000 microseconds', '0 microseconds')) as pos_2 'pos', window_2 'window'
      Project: car_id_2 'car_id' := `car_id`, model_2 'model' := `model`, price_2 'price' := `price`, sold_2 'sold' := `sold`, dealer_2 'dealer' := `dealer`, w := `window`
        Generate: ARRAY_COMPACT(ARRAY(NAMED_STRUCT('start', WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds').start, 'end', WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds').start + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 5400)), CASE WHEN (`sold`) < WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds').start + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 1800) THEN NAMED_STRUCT('start', WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds').start - MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 3600), 'end', WINDOW(`sold`, '3600000000 microseconds', '3600000000 microseconds', '0 microseconds').start + MAKE_INTERVAL(0, 0, 0, 0, 0, 0, 1800)) END)) as pos, window
          Scan cars: car_id, model, price, sold, dealer

-- title: time windows, refused
SELECT window(sold, '1 day') AS a, window(sold, '2 days') AS b FROM cars
-- error
UnsupportedError: several time windows are not supported at 1:36
  T window(sold, '1 day') AS a, window(sold, '2 days') AS b FR
                                ^^^^^^
Compute one of them in a derived table.
-- advised
SELECT a, window(sold, '2 days') AS b FROM (SELECT window(sold, '1 day') AS a, sold FROM cars)
