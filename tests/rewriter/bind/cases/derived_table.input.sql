SELECT q.m FROM (SELECT model AS m, price FROM cars WHERE price > 1) AS q WHERE q.price < 5
