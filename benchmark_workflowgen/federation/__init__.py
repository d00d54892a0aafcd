"""The cost of questions to a federation: requests, rounds, bytes and time, in every mode."""
