"""The data of a person or of a class: handed out, kept safe, put back, and deleted."""
