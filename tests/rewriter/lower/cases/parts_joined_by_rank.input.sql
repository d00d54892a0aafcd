-- blocks
WITH t AS (SELECT dealer, rank() OVER (ORDER BY avg(price)) AS place FROM cars GROUP BY dealer), n AS (SELECT buyer, rank() OVER (ORDER BY sum(amount)) AS place FROM bids GROUP BY buyer) SELECT t.place, d.city, b.bid FROM t, n, dealers d, bids b WHERE t.place = n.place AND t.place < 3 AND d.dealer = t.dealer AND b.buyer = n.buyer ORDER BY t.place, b.bid
