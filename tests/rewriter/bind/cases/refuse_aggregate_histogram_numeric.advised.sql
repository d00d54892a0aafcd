SELECT width_bucket(price, 0, 90, 3) AS part, count(*) AS n FROM cars GROUP BY width_bucket(price, 0, 90, 3)
