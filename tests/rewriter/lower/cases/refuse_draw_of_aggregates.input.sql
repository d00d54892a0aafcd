SELECT n, shuffle(array(n)) AS v FROM (SELECT count(*) AS n FROM cars GROUP BY model) AS g
