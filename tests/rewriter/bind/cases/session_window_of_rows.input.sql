SELECT session_window(sold, '5 minutes') AS w FROM cars
