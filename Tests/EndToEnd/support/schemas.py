"""Validators of the lines of JSON. They resolve the references from one schema to another."""

import json

import jsonschema

from end_to_end import ROOT

FOLDER = ROOT / "Protocol/schema"


def _schema(name):
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def validator(kind):
    """The validator of `Protocol/schema/KIND.schema.json`."""
    schema = _schema(f"{kind}.schema.json")
    jsonschema.Draft202012Validator.check_schema(schema)
    try:
        from referencing import Registry, Resource
        from referencing.jsonschema import DRAFT202012
    except ImportError:
        # The jsonschema of Debian 12.
        resolver = jsonschema.RefResolver(f"{FOLDER.as_uri()}/", schema)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    registry = Registry(retrieve=lambda uri: Resource.from_contents(_schema(uri), default_specification=DRAFT202012))
    return jsonschema.Draft202012Validator(schema, registry=registry)


SCHEMAS = {path.name.split(".")[0]: validator(path.name.split(".")[0]) for path in FOLDER.glob("*.schema.json")}
