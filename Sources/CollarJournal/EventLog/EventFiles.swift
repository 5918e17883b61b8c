import CheckedNumbers

/// The files of the event log: `<state directory>/events/00000001.jsonl` and so on. Each holds lines of JSON.
///
/// The lines tell what happened to links, collars and requests. Their size is bounded: when a file is full, the next one begins,
/// and only the newest two stay. No line is made durable, because a fix must never wait for one.
struct EventFiles {
    /// The directory of the files.
    let path: String
    let fileSystem: any FileSystem

    /// Bytes in a file, after which the next one begins.
    static let byteLimit = 512 << 10
    /// The highest number of a file. The log never reaches it, and with it the next number is always valid.
    private static let numberLimit: UInt32 = 1 << 31
    /// How many files stay.
    static let fileCount = 2

    init(stateDirectory: String, _ fileSystem: any FileSystem) {
        path = "\(stateDirectory)/events"
        self.fileSystem = fileSystem
    }

    /// The numbers of the files, ascending; none if there is no directory.
    func numbers() throws(FileFailure) -> [UInt32] {
        do throws(FileFailure) {
            return try fileSystem.names(in: path).compactMap { name in
                guard name.hasSuffix(".jsonl"), let number = UInt32(name.dropLast(6), in: 1...EventFiles.numberLimit), self.name(of: number) == name
                else { return nil }
                return number
            }.sorted()
        } catch {
            if error.isAbsence { return [] }
            throw error
        }
    }

    func path(of number: UInt32) -> String { "\(path)/\(name(of: number))" }

    private func name(of number: UInt32) -> String { "\(String(number, minimumDigits: 8)).jsonl" }
}
