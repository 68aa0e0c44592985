reinforce("machine-baseline");
