"""The ordinary user as whom the tests run every program: nobody, if they run as root themselves."""

import os
import shutil

IS_ROOT = os.geteuid() == 0
ORDINARY_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if IS_ROOT else {}


def give_to_ordinary_user(path):
    if IS_ROOT:
        shutil.chown(path, "nobody", "nogroup")


def open_to_others(folder):
    """Lets every user read what is in a folder."""
    for place, folders, files in os.walk(folder):
        for each in folders:
            os.chmod(os.path.join(place, each), 0o755)
        for each in files:
            os.chmod(os.path.join(place, each), 0o644)
    os.chmod(folder, 0o755)
