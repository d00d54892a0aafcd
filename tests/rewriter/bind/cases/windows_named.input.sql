SELECT first_value(a) OVER w, count(*) OVER (V)
FROM t
WINDOW w AS (PARTITION BY a ORDER BY b), v AS w
