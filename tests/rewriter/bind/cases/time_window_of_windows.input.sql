SELECT window.start, sum(n) AS n FROM (SELECT w AS v, n FROM (SELECT window(sold, '1 hour') AS w, count(*) AS n FROM cars GROUP BY 1)) GROUP BY window(v, '1 day')
