SELECT * FROM unreadable
