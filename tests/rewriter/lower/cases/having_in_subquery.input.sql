SELECT dealer FROM cars GROUP BY dealer HAVING max(price) IN (SELECT amount FROM bids)
