SELECT window.start, window_time(w) AS t, count(*) AS n FROM (SELECT *, window(sold, '90 minutes', '1 hour') AS w FROM cars) GROUP BY window(sold, '1 day'), w
