"""Grading a class: hundreds of submissions, on one machine or on several."""

import sys

# With this package jsonschema checks a kind of address that no notebook has to hold; to import it
# takes a second, in which it makes a parser.
sys.modules.setdefault("rfc3987_syntax", None)
