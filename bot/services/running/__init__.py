"""While it runs: launch kits, endpoints, machines that are ill, events that make us look sooner."""
