"""Tables of marks for learning systems, and what is looked at before they are written."""
