-- blocks
SELECT d.city, u.dealer FROM dealers d JOIN (SELECT dealer, max(price) AS p FROM cars GROUP BY dealer UNION ALL SELECT buyer, 0 FROM bids GROUP BY buyer) u ON d.dealer = u.dealer
