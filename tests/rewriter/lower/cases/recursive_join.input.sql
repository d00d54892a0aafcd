WITH RECURSIVE c(seller, city) MAX RECURSION LEVEL 2 AS (
  SELECT dealer, city FROM dealers WHERE rating > 3
  UNION ALL
  SELECT d.dealer, d.city FROM c JOIN dealers AS d ON c.city = d.dealer
)
SELECT city, count(*) AS n FROM c GROUP BY city
