SELECT * FROM (SELECT model, dealer, sold, price FROM cars) PIVOT (sum(price) AS total, count(*) FOR (dealer, sold) IN ((1, 2) AS one, (3, 4))) AS p (a, b, c, d, e)
