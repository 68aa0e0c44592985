"""Records of graded submissions, and the seals on them."""
