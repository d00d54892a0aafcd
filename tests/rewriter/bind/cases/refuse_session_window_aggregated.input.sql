SELECT session_window(sold, '5 minutes') AS w, min(session_window.end) FROM cars GROUP BY 1
