"""A simulated Slack: people, channels, Web API, Socket Mode and signed HTTP deliveries."""
