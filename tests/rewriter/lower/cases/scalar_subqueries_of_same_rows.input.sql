-- blocks
SELECT c.car_id,
       CASE WHEN (SELECT count(*) FROM cars WHERE price > 5) > 3
            THEN (SELECT 2 * avg(x.price) FROM cars x WHERE x.price > 5)
            ELSE (SELECT max(price) - count(*) FROM cars WHERE price > 5) END AS v,
       (SELECT count(DISTINCT price) FROM cars WHERE price > 5) AS alone,
       (SELECT sum(price) FROM cars WHERE price > 6) AS other
FROM cars c
