SELECT dealer FROM cars GROUP BY dealer HAVING sum(price) > (SELECT max(amount) FROM bids)
