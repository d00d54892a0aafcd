SELECT session_window(sold, '5 minutes') AS w FROM cars EXCEPT SELECT session_window(sold, '9 minutes') FROM cars
