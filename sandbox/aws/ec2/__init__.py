"""EC2: Capacity Blocks, capacity reservations, machines, spot, zones."""
