import Glibc

/// The process id in a lock file, for the message that a second process gets. The lock itself is the kernel's.
enum LockHolder {
    static func write(to file: FileReference, _ fileSystem: any FileSystem) throws(FileFailure) {
        let text = Array("\(getpid())\n".utf8)
        do throws(FileFailure) {
            try fileSystem.truncate(file, to: 0)
            var done = 0
            while done < text.count { done += try fileSystem.write(text, from: done, to: file, at: done) }
        } catch {
            // On a full disk the lock holds without a name.
            guard error.isLackOfRoom else { throw error }
        }
    }

    static func read(from file: FileReference, _ fileSystem: any FileSystem) -> Int32? {
        var text: [UInt8] = []
        do throws(FileFailure) { try fileSystem.read(from: file, at: 0, count: 16, into: &text) } catch { return nil }
        return Int32(String(decoding: text.prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self))
    }
}
