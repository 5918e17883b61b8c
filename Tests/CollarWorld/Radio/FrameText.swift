import CollarWire

/// A frame as text, for a trace.
struct FrameText: CustomStringConvertible {
    let description: String

    init(_ frame: [UInt8], _ log: LogIdentity?) {
        do throws(DecodeError) {
            let header = try FrameHeader(frame.span)
            var text = FrameText.text(frame, header, log)
            if let poll = header.flags.poll { text += ", poll \(poll.rawValue)" }
            description = text + " @\(header.address)"
        } catch { description = "\(frame.count) bytes that are no frame (\(error))" }
    }

    private static func text(_ frame: [UInt8], _ header: FrameHeader, _ log: LogIdentity?) -> String {
        if header.type == .liveFix { return "live fix …\(header.lowByte)" }
        do throws(DecodeError) {
            switch try Message.decode(frame.span, log: log, reference: UInt32(header.lowByte)) {
            case .identity(let identity):
                return "identity, log \(identity.oldestSequence)..<\(identity.nextSequence), "
                    + "paired \(identity.pairedReceiverID)"
            case .fix(let fix): return "fix …\(fix.sequence % 65_536)"
            case .collarMessage(let message): return "message \(message.sequence)"
            case .hostMessage(let message): return "message \(message.requestID) of \(message.receiverID)"
            case .probe(let probe): return "probe, next \(probe.nextSequence)"
            case .tombstone(let tombstone): return "tombstone \(ranges(tombstone.ranges))"
            case .acknowledgement(let answer):
                return "acknowledgement of poll \(answer.poll?.rawValue ?? 0), first missing \(answer.firstMissing)"
                    + (answer.durable.count > 0 ? ", durable \(ranges(answer.durable))" : "")
                    + (answer.resend.count > 0 ? ", resend \(ranges(answer.resend))" : "")
                    + ", from \(answer.receiverID)"
            case .command(let command): return "command \(command.requestID) of \(command.receiverID): \(command.action)"
            case .commandResult(let result): return "result of \(result.requestID): \(result.outcome)"
            case .identityRequest: return "who is there?"
            default: return "frame of type \(header.typeCode)"
            }
        } catch { return "frame of type \(header.typeCode), damaged or foreign" }
    }

    private static func ranges(_ list: SequenceRangeList) -> String {
        list.closedRanges.map { "\($0.lowerBound)…\($0.upperBound)" }.joined(separator: " ")
    }
}
