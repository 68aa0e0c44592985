"""Problem set 10: recurrent networks, and claims about them that can be measured."""

NUMBER = "10"
