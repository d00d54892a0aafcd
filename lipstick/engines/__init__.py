"""The two engines that answer questions to a capture, behind one interface."""
