SELECT session_window(sold, '5 minutes') AS w, model FROM cars GROUP BY CUBE (session_window(sold, '5 minutes'), model)
