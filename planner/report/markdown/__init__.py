"""Results as Markdown, for pull requests and chat."""
