"""Teaching: exercises that check themselves, and the widgets of the explorer and of the game."""
