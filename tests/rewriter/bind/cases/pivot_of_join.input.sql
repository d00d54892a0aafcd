SELECT p.city, small FROM cars JOIN dealers USING (dealer) PIVOT (max(price) FOR model IN ('a' AS small, NULL)) AS p
