SELECT current_date, current_timestamp, current_user, session_user
