import CollarARQ
import CollarFirmware
import CollarPorts
import CollarTracking
import CollarWire
import Glibc
import LinuxSystem
import SerialDevices

/// The position of an owner who moves: from a GNSS receiver at a serial port, or from gpsd. No call blocks.
///
/// A position counts once the next one has begun, unless its sentences are complete before.
package final class OwnerLocation {
    package enum Notice: Sendable {
        case port(PortNotice)
        /// The receiver has said no position for ``OwnerTrack/longestSilence``.
        case unknown
        /// The receiver says positions, at first or again.
        case known
    }

    package let path: String
    private let line: BoardLine
    private let report: (Notice) -> Void
    private var parser = UBXOrNMEAParser()
    private var openings = 0
    private var track: OwnerTrack

    package init(_ source: GNSSSource, at now: Instant, report: @escaping (Notice) -> Void) {
        path = source.path
        self.report = report
        line = BoardLine(source) { report(.port($0)) }
        track = OwnerTrack(at: now.microseconds)
        line.open(at: now)
    }

    /// The descriptors to wait for.
    package var descriptors: [pollfd] { line.descriptors }

    /// When to call ``serve(at:)`` if no descriptor is ready before.
    package var nextDeadline: Instant? { [line.nextDeadline, track.nextDeadline.map { Instant(microseconds: $0) }].compactMap { $0 }.min() }

    /// The failure for which the port is not opened again; nil if there is none.
    package var failure: PortFailure? { line.failure }

    /// Where the owner is; nil while that is unknown.
    package var position: Position? { track.position }

    /// Does what is due.
    /// - Returns: whether ``position`` has changed.
    package func serve(at now: Instant) -> Bool {
        let before = track.position
        let bytes = line.serve(at: now)
        if line.openingCount != openings {
            openings = line.openingCount
            parser = UBXOrNMEAParser()
        }
        for byte in bytes {
            parser.append(byte)
            while let event = parser.next() {
                if case .reading(let reading) = event, let position = Position(reading) { _ = track.take(position, at: now.microseconds) }
            }
        }
        if track.deadlineReached(at: now.microseconds) { report(.unknown) }
        if before == nil, track.position != nil { report(.known) }
        return track.position != before
    }
}

extension Position {
    /// Where a GNSS receiver is; nil for coordinates out of range.
    fileprivate init?(_ reading: GNSSReading) {
        self.init(latitudeDegrees: Double(reading.latitudeE7) / 1e7, longitudeDegrees: Double(reading.longitudeE7) / 1e7)
    }
}
