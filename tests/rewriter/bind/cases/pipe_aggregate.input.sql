FROM cars
|> AGGREGATE sum(price) AS total, count(*) AS n GROUP BY dealer, sold % 2 AS parity
|> WHERE n > 1
|> ORDER BY total DESC
|> LIMIT 3
