"""What people look at: the daily digest, Home, budget, calendar, market."""
