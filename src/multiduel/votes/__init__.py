"""Votes from files: see what they are, read them, and say which slates to compare next.

>>> from multiduel import votes
>>> print(votes.read([("tea", "milk", "tea")]).note)
battles: first = 'first', second = 'second', winner = 'winner' (by name); 1 answer, 2 options
"""

from multiduel.votes.assembling import Reading
from multiduel.votes.reader import join, read, read_votes

__all__ = ["Reading", "join", "read", "read_votes"]
