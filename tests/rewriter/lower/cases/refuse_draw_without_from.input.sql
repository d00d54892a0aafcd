SELECT rand() AS r
