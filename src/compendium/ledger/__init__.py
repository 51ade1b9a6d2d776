"""What the paper says, how each statement is checked, and the verdict that follows."""
