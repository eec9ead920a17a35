#!/usr/bin/env python3
"""notebooks.py - make notebooks of the examples.

    notebooks.py FOLDER [--run]

Each script of this folder whose cells begin with "# %%" becomes a notebook; "# %% [markdown]"
begins a cell of text. With --run they are run as well, by nbclient, and have their figures inside.
"""
import glob
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def scripts():
    """The examples, by name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(HERE, "*.py"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.startswith("# %%"):
            found[os.path.splitext(os.path.basename(path))[0]] = text
    return found


def helpers():
    """Modules that examples share."""
    return [path for path in glob.glob(os.path.join(HERE, "*.py"))
            if os.path.splitext(os.path.basename(path))[0] not in [*scripts(), "notebooks"]]


def cells(text):
    """(kind, source) of each cell of a script."""
    parts = re.split(r"^# %%(.*)\n", text, flags=re.MULTILINE)[1:]
    for head, body in zip(parts[::2], parts[1::2]):
        if "[markdown]" in head:
            yield "markdown", re.sub(r"^# ?", "", body.strip("\n"), flags=re.MULTILINE)
        else:
            yield "code", body.strip("\n")


def notebook(text):
    """A script as a notebook of format 4.5."""
    made = []
    for number, (kind, source) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {},
                "source": source.splitlines(keepends=True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def run(made, folder):
    """The notebook with what its cells show."""
    import nbclient
    import nbformat
    book = nbformat.reads(json.dumps(made), as_version=4)
    client = nbclient.NotebookClient(book, timeout=1200, resources={"metadata": {"path": folder}})
    return json.loads(nbformat.writes(client.execute()))


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for path in helpers():
        shutil.copy(path, folder)
    for name, text in scripts().items():
        made = notebook(text)
        if "--run" in sys.argv:
            made = run(made, folder)
        path = os.path.join(folder, name + ".ipynb")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(made, file, indent=1)
        print(path)


if __name__ == "__main__":
    main()
