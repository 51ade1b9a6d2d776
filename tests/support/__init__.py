"""What tests share: strategies, slow references, opponents, a browser."""
