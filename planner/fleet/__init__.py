"""Which member clusters a placement gets: as Fleet picks them, and the best there is."""
