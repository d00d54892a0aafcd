"""Operations on provenance graphs, one per module: functions whose first argument is a graph."""
