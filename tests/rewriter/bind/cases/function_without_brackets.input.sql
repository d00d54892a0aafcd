SELECT user, current_date, session_user FROM (SELECT 1 AS user)
