SELECT w.start, model, count(*) FROM (SELECT session_window(sold, '5 minutes') AS w, model FROM cars GROUP BY session_window(sold, '5 minutes'), model) GROUP BY CUBE (w.start, model)
