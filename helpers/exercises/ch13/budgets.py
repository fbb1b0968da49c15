"""Budgets of exercises of this chapter: those of chapter 5 for requests to shared memory."""

from helpers.exercises.ch05.budgets import SHARED_LOADS as SHARED_LOADS
from helpers.exercises.ch05.budgets import SHARED_STORES as SHARED_STORES
