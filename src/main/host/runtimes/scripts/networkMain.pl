network_main();
