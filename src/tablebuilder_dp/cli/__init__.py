"""The command line, a module for each group of commands: they ask the library and lay out its answers."""
