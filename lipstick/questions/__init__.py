"""Questions to annotated answers: parameters, and the methods that frames and captures share."""
