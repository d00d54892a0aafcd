"""Front ends for data frames: the plan of a frame becomes the text of a query."""
