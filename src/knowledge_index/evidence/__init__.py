"""What was shown, provably: receipts, Merkle trees, keys, verification."""
