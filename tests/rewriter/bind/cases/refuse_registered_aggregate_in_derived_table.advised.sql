SELECT count(*) AS n FROM (SELECT middle(price) AS m FROM cars GROUP BY 'all')
