SELECT dealer, count(*) FILTER (WHERE price > 10), count(DISTINCT model, price) FILTER (WHERE price > 10), max(price + 1) FILTER (WHERE model IS NULL) FROM cars GROUP BY dealer
