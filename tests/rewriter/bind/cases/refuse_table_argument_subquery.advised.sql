SELECT * FROM words(TABLE(SELECT cars.*, m FROM cars CROSS JOIN (SELECT max(a) AS m FROM t)) PARTITION BY dealer)
