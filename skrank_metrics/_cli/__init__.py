"""The command line: its commands, input files and output."""
