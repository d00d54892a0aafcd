SELECT price / 10 AS bin, price / 10 + 1, sum(price * 2) FROM cars GROUP BY price / 10
