SELECT car_id FROM cars WHERE price > (SELECT middle(price) FROM cars GROUP BY 'all')
