SELECT dealer, sum(price - (SELECT min(amount) FROM bids)) AS gain FROM cars GROUP BY dealer
