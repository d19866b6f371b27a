"""Is the passage that answers a question really retrieved, character by character, and if not, why?"""
