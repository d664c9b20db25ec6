"""The command line: its commands, the files that it reads, and what it prints."""
