"""Why pods can't run, in the user's words, and the cheapest changes that let them."""
