SELECT dealer FROM cars WHERE middle(price) > 2
