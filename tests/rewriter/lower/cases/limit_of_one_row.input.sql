SELECT * FROM (SELECT count(*) AS n FROM cars) a, (SELECT count(*) AS m FROM bids) b LIMIT 100
