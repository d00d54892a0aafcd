"""The commands of federated stores."""
