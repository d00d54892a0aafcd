"""Histories of tables: statements reenacted over versions, undone, replaced and replayed."""
