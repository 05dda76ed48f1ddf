"""Who is asked about, and copies of the cluster on which changes are tried."""
