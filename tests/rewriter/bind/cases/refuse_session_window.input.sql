SELECT session_window(sold, '5 minutes'), count(*) FROM cars GROUP BY 1
