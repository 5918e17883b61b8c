/// The segment that grows: its file, how much of it is written and durable, and the records that wait in memory.
struct SegmentWriter {
    let number: UInt32
    let file: FileReference
    /// Records not written yet.
    var pending: RecordBuffer
    /// Bytes in the file.
    private(set) var writtenByteCount: Int
    /// Bytes of the segment's header and checkpoint.
    private let checkpointByteCount: Int
    /// Bytes of the file that are durable.
    private(set) var durableByteCount: Int

    /// Continues a segment after its first `byteCount` bytes, which count as durable.
    init(number: UInt32, file: FileReference, byteCount: Int, checkpointByteCount: Int, crc: RecordCRC) {
        self.number = number
        self.file = file
        self.checkpointByteCount = checkpointByteCount
        pending = RecordBuffer(crc: crc)
        writtenByteCount = byteCount
        durableByteCount = byteCount
    }

    /// Whether the next segment is due: at `limit` bytes, but not before the records take as many bytes as header and checkpoint.
    func isFull(limit: Int) -> Bool { writtenByteCount >= max(limit, 2 * checkpointByteCount) }

    /// The position after all appended records, written or not.
    var end: JournalPosition {
        JournalPosition(segment: number, offset: UInt32(writtenByteCount + pending.bytes.count))
    }

    /// Writes the pending records. After a failure all of them are still pending, and the file is cut to its former length if
    /// possible.
    mutating func write(_ fileSystem: any FileSystem) throws(FileFailure) {
        let count = pending.bytes.count
        var done = 0
        while done < count {
            do throws(FileFailure) {
                done += try fileSystem.write(pending.bytes, from: done, to: file, at: writtenByteCount + done)
            } catch {
                // Bytes that cannot be cut off do no harm: the next write begins at the same place.
                do throws(FileFailure) { try fileSystem.truncate(file, to: writtenByteCount) } catch {}
                throw error
            }
        }
        writtenByteCount += count
        pending.removeAll()
    }

    /// Makes the written bytes durable.
    mutating func synchronize(_ fileSystem: any FileSystem) throws(FileFailure) {
        do throws(FileFailure) {
            try fileSystem.synchronize(file)
        } catch {
            // The kernel now treats the pages as clean: a process that opens the file next would read from the page cache what
            // the disk does not hold. So the bytes in doubt are cut off.
            do throws(FileFailure) { try fileSystem.truncate(file, to: durableByteCount) } catch {}
            throw error
        }
        durableByteCount = writtenByteCount
    }
}
