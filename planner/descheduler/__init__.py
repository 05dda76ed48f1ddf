"""The descheduler as it is: its policy, its strategies, and what rounds of them lead to."""
