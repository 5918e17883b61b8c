"""The ordinary user as whom the tests run every program: nobody, if they run as root themselves."""

import os
import shutil

IS_ROOT = os.geteuid() == 0
ORDINARY_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if IS_ROOT else {}


def give_to_ordinary_user(path):
    if IS_ROOT:
        shutil.chown(path, "nobody", "nogroup")
