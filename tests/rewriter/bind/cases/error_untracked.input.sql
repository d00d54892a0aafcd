SELECT a FROM db.missing AS m
