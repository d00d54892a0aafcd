SELECT w, min(e) FROM (SELECT session_window(sold, '5 minutes') AS w, session_window(sold, '5 minutes').end AS e FROM cars) GROUP BY w
