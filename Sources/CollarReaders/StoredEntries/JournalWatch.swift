import CollarWire
import Glibc
import LinuxSystem

/// Tells which journals of a state directory change, without reading them (inotify).
package final class JournalWatch {
    package enum Subject {
        case stateDirectory, eventLog
        case collar(DeviceID)
    }

    /// What has changed since the last call of ``JournalWatch/takeChanges()``.
    package struct Changes {
        /// A collar or the event log may be new.
        package var hasNewNames = false
        /// The event log may have new lines.
        package var hasEvents = false
        /// The collars whose journals may have new entries.
        package var collars: Set<DeviceID> = []
    }

    /// Readable when something has changed.
    package let fileDescriptor: Int32
    private let stateDirectory: String
    private var subjects: [Int32: Subject] = [:]

    package init(stateDirectory: String) throws(ReaderError) {
        self.stateDirectory = stateDirectory
        fileDescriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard fileDescriptor >= 0 else { throw .watch(path: stateDirectory, errorNumber: errno) }
        try add(stateDirectory, .stateDirectory, forWrites: false)
    }

    deinit { close(fileDescriptor) }

    /// Watches a journal or the event log, if that is there and may be read. A directory that has become readable, or that takes
    /// the place of another one, is a change of the state directory; it is watched then.
    package func watch(_ path: String, _ subject: Subject) throws(ReaderError) {
        do throws(ReaderError) { try add(path, subject, forWrites: true) } catch {
            guard case .watch(_, let errorNumber) = error, errorNumber == ENOENT || errorNumber == EACCES else { throw error }
        }
    }

    private func add(_ path: String, _ subject: Subject, forWrites: Bool) throws(ReaderError) {
        let names = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ATTRIB) | UInt32(IN_ONLYDIR)
        let number = unsafe inotify_add_watch(fileDescriptor, path, forWrites ? names | UInt32(IN_MODIFY) : names)
        guard number >= 0 else { throw .watch(path: path, errorNumber: errno) }
        subjects[number] = subject
    }

    package func takeChanges() -> Changes {
        var changes = Changes()
        InotifyEventReader.readAll(from: fileDescriptor) { event in
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                // The kernel has dropped events: everything may have changed.
                for subject in subjects.values { changes.note(subject) }
            } else if let subject = subjects[event.watch] {
                changes.note(subject)
            }
        }
        return changes
    }
}

extension JournalWatch.Changes {
    fileprivate mutating func note(_ subject: JournalWatch.Subject) {
        switch subject {
        case .stateDirectory: hasNewNames = true
        case .eventLog: hasEvents = true
        case .collar(let deviceID): collars.insert(deviceID)
        }
    }
}
