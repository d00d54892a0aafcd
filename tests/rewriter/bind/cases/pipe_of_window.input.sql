FROM cars |> SELECT model, row_number() OVER w AS r WINDOW w AS (PARTITION BY dealer ORDER BY price) |> WHERE r = 1
