"""The commands of the shell; streed.cli.app gathers them.

Only click is imported when they are; whatever a command needs is loaded when it runs, so that `streed --help` is
instant. (typer would read its arguments with pydantic: another 0.1 s at every start.)
"""
