/// The segment that grows: its file, what of it is written and durable, and what waits in memory.
struct SegmentWriter {
    let number: UInt32
    let file: FileReference
    /// Records not written yet.
    var pending: RecordBuffer
    /// Bytes in the file.
    private(set) var writtenByteCount: Int
    /// Bytes of the file that are durable.
    private(set) var durableByteCount: Int

    /// Goes on with a segment whose first `byteCount` bytes are durable.
    init(number: UInt32, file: FileReference, byteCount: Int, check: RecordCheck) {
        self.number = number
        self.file = file
        pending = RecordBuffer(check: check)
        writtenByteCount = byteCount
        durableByteCount = byteCount
    }

    /// Behind everything appended, written or not.
    var end: JournalPosition {
        JournalPosition(segment: number, offset: UInt32(writtenByteCount + pending.bytes.count))
    }

    /// Writes what waits. On failure everything still waits, and the file is as long as before where that can be had.
    mutating func write(_ fileSystem: any FileSystem) throws(FileFailure) {
        let count = pending.bytes.count
        var done = 0
        while done < count {
            do throws(FileFailure) {
                done += try fileSystem.write(pending.bytes, from: done, to: file, at: writtenByteCount + done)
            } catch {
                // What cannot be cut off is no harm either: the next write begins at the same place.
                do throws(FileFailure) { try fileSystem.truncate(file, to: writtenByteCount) } catch {}
                throw error
            }
        }
        writtenByteCount += count
        pending.removeAll()
    }

    /// Makes durable what is written.
    mutating func synchronize(_ fileSystem: any FileSystem) throws(FileFailure) {
        do throws(FileFailure) {
            try fileSystem.synchronize(file)
        } catch {
            // The kernel now takes the pages for clean, and whoever opens the file next would read from memory what
            // the disk does not hold. So what is in doubt goes.
            do throws(FileFailure) { try fileSystem.truncate(file, to: durableByteCount) } catch {}
            throw error
        }
        durableByteCount = writtenByteCount
    }
}
