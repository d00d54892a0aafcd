SELECT dealer FROM dealers WHERE rating > (SELECT middle(price) FROM cars WHERE price > rating GROUP BY 'all')
