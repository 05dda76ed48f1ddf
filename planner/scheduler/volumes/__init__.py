"""Claims, volumes and attachments as the volume plugins see them."""
