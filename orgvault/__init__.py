"""Persona memory and composed system prompts for LLM agents, kept as files in a git vault."""

__version__ = "0.1.0"
