"""What every rendering is made of: blocks, words, marks and files."""
