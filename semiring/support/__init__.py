"""Support for all packages: checked arguments, deep data, budgets, documents and texts."""
