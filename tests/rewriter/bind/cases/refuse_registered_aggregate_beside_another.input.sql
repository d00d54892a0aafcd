SELECT dealer, middle(price) AS m, count(*) AS n FROM cars GROUP BY dealer
