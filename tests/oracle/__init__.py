"""The two oracles every query is held against: the bag of its rows, and deletion of its inputs."""
