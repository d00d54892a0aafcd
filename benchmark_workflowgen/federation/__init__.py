"""What questions to a federation cost: requests, rounds, bytes and time, in every way to ask."""
