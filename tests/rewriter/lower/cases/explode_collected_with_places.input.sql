-- blocks
SELECT d.model, e.at, e.price FROM (SELECT model, collect_list(price) AS prices FROM cars GROUP BY model) d LATERAL VIEW posexplode(d.prices) e AS at, price
