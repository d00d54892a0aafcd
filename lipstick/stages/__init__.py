"""The stages that a query passes before it is rewritten; `lipstick.binding` joins them."""
