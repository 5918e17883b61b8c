import CollarBridge

/// How a message names a collar.
func collarName(_ deviceID: UInt64) -> String { "collar \(MessageDescription.hexadecimal(deviceID))" }
