SELECT cars.model FROM cars LEFT JOIN bids ON cars.car_id = bids.car_id WHERE words(bids.amount) > 1
