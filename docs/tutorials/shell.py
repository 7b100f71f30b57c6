"""Commands of a terminal in a notebook: what they print is shown in one piece, and a failure stops the notebook."""

import subprocess


def shell(commands):
    """Run the commands with bash, and print what they say.

    >>> shell("echo topics")
    topics
    """
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout.rstrip())
    if done.returncode:
        raise RuntimeError(f"the commands ended with code {done.returncode}")
