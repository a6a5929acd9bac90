"""A copy of fail2ban's configuration with files of the agent in it, as they would be. Part of stockade-agent; it stands before other programs."""
import contextlib
import json
import os
import shutil
import tempfile


def link_tree(source, target):
    for name in os.listdir(source):
        path, copy = os.path.join(source, name), os.path.join(target, name)
        if os.path.isdir(path):
            os.mkdir(copy)
            link_tree(path, copy)
        else:
            os.symlink(path, copy)


@contextlib.contextmanager
def staged(ask):
    """The directory of the configuration. With "files", [[path in it, text or null to leave it out]], a copy that has them."""
    base = os.path.abspath(ask["config"])
    if not ask.get("files"):
        yield base
        return
    copy = tempfile.mkdtemp(prefix="stockade-stage-", dir=ask.get("run"))
    try:
        link_tree(base, copy)
        for name, text in ask["files"]:
            path = os.path.join(copy, name)
            if os.path.lexists(path):
                os.unlink(path)
            if text is not None:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
        yield copy
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def named(result, copy, ask):
    """The result as text, in which the copy has the name of the configuration: what is said of it stays true."""
    return json.dumps(result).replace(copy, os.path.abspath(ask["config"]))
