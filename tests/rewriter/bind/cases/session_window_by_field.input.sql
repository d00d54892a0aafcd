SELECT session_window(sold, '5 minutes').start AS s, count(*) AS n FROM cars GROUP BY session_window(sold, '5 minutes').start
