"""The stages that a query passes before it is rewritten; `lipstick.pipeline` has their order."""
