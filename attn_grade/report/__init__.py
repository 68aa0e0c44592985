"""What a class made of a problem set, as one page for who teaches it."""
