-- blocks
SELECT dealer, middle(price) AS m FROM cars GROUP BY dealer HAVING middle(price, dealer) > 2
