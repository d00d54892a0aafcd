SELECT city, sum(rate) AS s FROM rates GROUP BY city
