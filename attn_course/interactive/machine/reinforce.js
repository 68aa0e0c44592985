reinforce("machine-reinforce");
