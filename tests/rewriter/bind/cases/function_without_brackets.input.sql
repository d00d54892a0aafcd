SELECT user, current_date, localtimestamp FROM (SELECT 1 AS user)
