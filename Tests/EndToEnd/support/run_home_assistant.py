"""Runs the core of Home Assistant 2024.3.3 with its MQTT integration, without a web interface, in the Python of .tools/home-assistant.

    python run_home_assistant.py FOLDER BROKER_PORT FREE_PORT

FOLDER keeps its state, as the folder of its configuration does. Commands come on standard input, and each is answered with a line
of JSON: `show` with all devices and the states of their entities, `press ENTITY`, and `owntracks`, a line of JSON as OwnTracks
publishes it, with what the integration OwnTracks makes of it.
"""

import asyncio
import json
import pathlib
import sys
import types

from homeassistant import auth, bootstrap, config_entries, core, loader
from homeassistant.helpers import device_registry, entity_registry
from homeassistant.setup import async_setup_component

HOME = (50.17, -5.11)


async def start(folder, broker_port, free_port):
    hass = core.HomeAssistant(folder)
    hass.config.skip_pip = True
    hass.config.latitude, hass.config.longitude = HOME
    pathlib.Path(folder, "configuration.yaml").touch()
    loader.async_setup(hass)
    hass.config_entries = config_entries.ConfigEntries(hass, {})
    await bootstrap.async_load_base_functionality(hass)
    await hass.config_entries.async_initialize()
    hass.auth = await auth.auth_manager_from_config(hass, [], [])
    # The MQTT integration depends on this server; no test uses it.
    web = {"http": {"server_host": ["127.0.0.1"], "server_port": free_port}}
    for domain, configuration in (("homeassistant", {}), ("http", web), ("zone", {})):
        if not await async_setup_component(hass, domain, configuration):
            raise SystemExit(f"{domain} is not set up")
    if hass.config_entries.async_entries("mqtt"):
        await async_setup_component(hass, "mqtt", {})
    else:
        await hass.config_entries.async_add(config_entries.ConfigEntry(
            version=1, minor_version=1, domain="mqtt", title="broker", source="user",
            data={"broker": "127.0.0.1", "port": broker_port, "discovery": True}))
    await hass.async_start()
    return hass


def show(hass):
    devices = device_registry.async_get(hass).devices
    found = {}
    for entity in entity_registry.async_get(hass).entities.values():
        if entity.platform != "mqtt":
            continue
        device = devices[entity.device_id]
        (_, identifier), = device.identifiers
        state = hass.states.get(entity.entity_id)
        found.setdefault(identifier, {"name": device.name, "entities": {}})["entities"][entity.unique_id] = {
            "entity": entity.entity_id, "state": state and state.state, "attributes": dict(state.attributes) if state else {}}
    return found


def owntracks(line):
    """The state that the integration OwnTracks makes of a message; None if it drops it."""
    # It imports the integration of the vendor's cloud, of which it needs nothing here, and which needs many packages.
    sys.modules["homeassistant.components.cloud"] = types.ModuleType("cloud")
    from homeassistant.components.owntracks import OwnTracksContext, messages

    message = json.loads(line)
    context = OwnTracksContext(None, None, None, False, None, {}, False, "owntracks/#")
    return messages._parse_see_args(message, context.mqtt_topic) if context.async_valid_accuracy(message) else None


async def main():
    hass = await start(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps("started"), flush=True)
    while line := await hass.async_add_executor_job(sys.stdin.readline):
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "show":
            answer = show(hass)
        elif command == "press":
            await hass.services.async_call("button", "press", {"entity_id": argument}, blocking=True)
            answer = None
        else:
            answer = owntracks(argument)
        print(json.dumps(answer, default=str), flush=True)
    await hass.async_stop(force=True)


asyncio.run(main())
