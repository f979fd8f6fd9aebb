"""Pages of the documentation that are made from the program's own words, the tree, notebooks."""
