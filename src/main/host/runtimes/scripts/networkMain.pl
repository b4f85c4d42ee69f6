run_network();
