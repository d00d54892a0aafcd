SELECT city, row_number() OVER (ORDER BY city) AS n, lag(rate) OVER (ORDER BY city) AS l FROM rates
