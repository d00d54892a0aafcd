-- blocks
SELECT d.model, e.price FROM (SELECT model, collect_list(struct(price, dealer)) AS cars FROM cars WHERE price > 3 GROUP BY model HAVING count(*) > 1) d LATERAL VIEW inline(d.cars) e AS price, dealer
