SELECT t.n, max_by(t.model, t.s) AS m, first(c.price) AS f
FROM (SELECT model, count(*) AS n, sum(price) AS s FROM cars GROUP BY model) t
JOIN cars c ON c.price > t.n
GROUP BY t.n
