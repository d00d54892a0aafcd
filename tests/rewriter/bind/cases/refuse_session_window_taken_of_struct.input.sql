SELECT s.w, count(*) FROM (SELECT struct(session_window(sold, '5 minutes') AS w, model) AS s FROM cars) GROUP BY s.w
