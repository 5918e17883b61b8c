import CollarFormats
import CollarErrors
import CollarHost
import CollarWire

extension ReceiverNotice {
    /// What a filter knows of the notice.
    package var mark: LogMark {
        if case .repeated(let notice, _) = self { return notice.mark }
        var mark = LogMark(message, otherwise: categoryWithoutCode)
        switch self {
        // A radio on which no collar is heard is not a failure yet. Damaged or lost fixes are a failure, though gap lines
        // report them instead of error lines.
        case .host(.noIdentity): mark.level = .info
        case .host(.damagedFixes), .host(.lost), .fixesLeftOut, .unplugged(_, .isAnotherTerminal): mark.level = .warning
        // For programs, there are lines of these.
        case .host(.status), .figures, .traffic: mark.level = .debug
        case .unplugged(_, .ends): mark.level = .debug
        case .crashed(let end): mark.level = end.signal == nil ? .error : .fault
        default: break
        }
        return mark
    }

    private var categoryWithoutCode: LogCategory {
        switch self {
        case .host(.status): .power
        case .figures: .performance
        case .host(.damagedFixes), .host(.storageRecovered), .host(.lost), .host(.deliveredElsewhere), .host(.positions),
            .host(.fault), .animals, .fixesLeftOut:
            .collarLocation
        default: .connectivity
        }
    }
}
