-- blocks
SELECT d.city, u.x FROM dealers d JOIN (SELECT 'x' AS x, count(*) AS n FROM cars UNION ALL SELECT buyer, 0 FROM bids GROUP BY buyer) u ON d.dealer = u.x
