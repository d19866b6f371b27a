"""German words as the index compares them: one key for all forms of a word, and the parts of a compound."""

from knowledge_index.index.german.compounds import parts_of
from knowledge_index.index.german.keys import key_of
from knowledge_index.index.german.word_list import GERMAN_SIGNATURE

__all__ = ["GERMAN_SIGNATURE", "key_of", "parts_of"]
