"""The audit's rules: pure functions over two trees and the commit between them.

Nothing in here is what the store writes or reads with: rows, claims, names of segments and
hashes are read once more, in words of their own, so that a fault of the writer cannot hide itself.
"""
