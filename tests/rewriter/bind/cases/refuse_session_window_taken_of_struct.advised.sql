SELECT w, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars) GROUP BY w
