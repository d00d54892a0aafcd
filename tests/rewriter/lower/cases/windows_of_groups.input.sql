-- blocks
SELECT model, share FROM (
  SELECT model, sum(price) / sum(sum(price)) OVER (PARTITION BY model) AS share,
    rank() OVER (ORDER BY sum(price) DESC) AS r
  FROM cars GROUP BY model, dealer HAVING count(*) > 1) t
WHERE r <= 3
