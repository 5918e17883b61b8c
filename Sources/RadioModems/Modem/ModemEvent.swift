import CollarARQ
import CollarWire

/// An event that a stick's modem reports to its receiver.
package enum ModemEvent: Equatable, Sendable {
    /// The stick carries the serial line of the protocol. These bytes of the line came in before that was known.
    case serialLine([UInt8])
    /// Further bytes of the serial line.
    case serialBytes([UInt8])
    /// The stick is set up, and packets pass both ways with this timing.
    case ready(ModemProfile)
    /// The stick has told another timing since it was ready.
    case timing(ModemProfile)
    /// A packet from the air, and how well it was received, if the stick told it.
    case packet([UInt8], RadioSignal?)
    /// The stick is given an answer to transmit, with this airtime of all its packets.
    case transmits(airtimeMicroseconds: Int64)
    /// The airtime that the region allows runs short, or does so no more.
    case airtime(isShort: Bool)
    /// Something that a person should know.
    case notice(ModemNotice)
}

/// An event at a stick that a person should know of.
package enum ModemNotice: Equatable, Sendable {
    /// The stick runs this firmware. `version` is nil if it does not tell one.
    case found(Dialect, version: String?)
    /// The stick has confirmed these settings. A collar must wait for an answer for this turnaround, in microseconds.
    case ready(Dialect, RadioSettings, turnaroundMicroseconds: Int64)
    /// Nobody has chosen the settings of the stick's radio, so that it is not used.
    case settingsMissing(Dialect)
    /// No region is set, so that nothing is transmitted.
    case regionMissing(Dialect)
    /// The stick does not hold a setting; it is not used.
    case refused(ModemSetting, wanted: Int64, actual: Int64?)
    /// The stick transmits with less power than wanted.
    case powerReduced(wantedDBm: Int64, actualDBm: Int64)
    /// The stick transmits with more power than wanted, which is the least that it has.
    case powerRaised(wantedDBm: Int64, actualDBm: Int64)
    /// The board of the stick has an amplifier: the radio chip has this power, and the antenna that one.
    case amplified(board: String, chipDBm: Int64, outputDBm: Int64)
    /// The stick does not tell which board it is, so it may have an amplifier.
    case boardUnknown(Dialect)
    /// The release of the stick's firmware is too old; it is not used.
    case firmwareTooOld(Dialect, version: String)
    /// The stick has refused a packet of this size, with this status.
    case packetRefused(Dialect, byteCount: Int, status: String)
    /// The stick takes packets and sends none: it is restarted.
    case notSending(Dialect)
    /// The stick restarted and forgot its settings: it is set up again.
    case restarted(Dialect)
    /// The stick does not answer: it is tried again.
    case notAnswering(Dialect)
    /// The stick answers again.
    case answersAgain(Dialect)
    /// The stick could not send a packet because it, or the channel, is busy.
    case busy(Dialect)
    /// The stick's queue is full: it dropped a packet.
    case queueFull(Dialect)
    /// The stick reports a fault with this code of its firmware.
    case fault(Dialect, code: UInt8)
    /// The limits of the region forbid to send for this many microseconds. `isStart` tells that nothing was sent since the port was
    /// opened: the airtime of the hour before is not known, so that all of it counts as used.
    case dutyCycleReached(microseconds: Int64, isStart: Bool)
    /// Less than half of the airtime is left that the region allows at once: `partsPerMillion` of each hour. The answers of the last
    /// hour took `usedMicroseconds`.
    case airtimeShort(usedMicroseconds: Int64, partsPerMillion: Int64, frequencyHertz: UInt32)
    /// A frame has more airtime than the region allows, in microseconds.
    case dwellTimeExceeded(airtimeMicroseconds: Int64, limitMicroseconds: Int64)
    /// Something else than a known stick is at the port.
    case stranger(Stranger)
}

package enum ModemSetting: String, Equatable, Sendable {
    /// The frequency, in hertz.
    case frequency
    /// The bandwidth, in hertz.
    case bandwidth
    case spreadingFactor
    /// The denominator of the coding rate.
    case codingRate
    /// The power, in dBm.
    case power
    /// The time that 199 bytes take on the air, in milliseconds. It shows that the bandwidth, the spreading factor or the coding
    /// rate is another than wanted.
    case airtime
    /// The symbols of the preamble.
    case preamble
    /// Whether the radio is on.
    case radioState
    case mode
}

/// The kind of device at a port that is not a known stick.
package enum Stranger: Equatable, Sendable {
    /// Sentences of a GNSS receiver.
    case nmea
    /// The text that a bootloader or a crashing firmware writes.
    case bootloader
    /// Meshtastic firmware, which carries no raw packets.
    case meshtastic
    /// MeshCore's companion firmware, which carries no raw packets.
    case companion
    /// A login or a command line.
    case console
    /// Whatever is written comes back.
    case echo
    /// KISS frames, but neither of the known firmwares answers.
    case silentKISS
    /// A modem with AT commands that is not RUI3.
    case otherModem
    /// A stick that ran this firmware when it was used before does not answer.
    case silent(Dialect)
    /// Text that is none of these; its first line.
    case text(String)
    /// Many bytes that are neither text nor frames, such as those of a board with another line speed.
    case bytesWithoutFrames
}
