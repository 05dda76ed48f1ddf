"""What plugins are written against: the plugin's interface and the state of a scheduling cycle."""
