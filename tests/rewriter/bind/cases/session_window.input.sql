SELECT upper(model) AS m, session_window.end, count(*) AS n FROM cars GROUP BY m, session_window(sold, '1 day')
