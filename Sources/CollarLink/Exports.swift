// A program names the codes of errors, the keys of settings and their versions, and needs no further import for them.
@_exported import CollarErrors
@_exported import struct CollarFormats.TrackLineError
@_exported import enum CollarWire.SettingKey
@_exported import struct CollarWire.SettingsVersion
