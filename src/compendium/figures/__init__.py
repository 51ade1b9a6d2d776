"""The pictures, a module a notebook and named as it is, each drawn from the library's numbers."""
