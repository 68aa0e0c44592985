"""Values that answers return: equality, and relations of wrong numbers to the right ones."""
