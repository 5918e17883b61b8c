extension Journal {
    /// Writes everything appended with one write, makes it durable, and only then counts it as such.
    ///
    /// Where nothing but the emission cursor has changed it is written but not waited for: it survives the end of the
    /// process, and a power cut at worst repeats lines. What was written to a file that has been removed counts for nothing,
    /// nor does what was durable before: an acknowledgement of it may not have arrived.
    /// - Throws: what failed. ``state`` says whether another try makes sense: a full disk loses nothing, after
    ///   any other failure the journal must be opened again.
    public func commit() throws(JournalError) {
        if case .failed(let failure) = state { throw .stopped(after: failure) }
        stageProgress()
        if !writer.pending.bytes.isEmpty {
            do throws(FileFailure) {
                try writer.write(fileSystem)
            } catch {
                state = error.isLackOfRoom ? .full(error) : .failed(error)
                throw .file(error)
            }
            state = .open
        }
        do throws(FileFailure) {
            if !ledger.isSettled { try writer.synchronize(fileSystem) }
            try fileSystem.checkName(of: writer.file)
        } catch {
            state = .failed(error)
            throw .file(error)
        }
        guard !ledger.isSettled else { return }
        ledger.settle()
        if writer.writtenByteCount >= segmentByteLimit { rotate() }
    }

    /// Adds the records that end a commit.
    private func stageProgress() {
        for progress in ledger.takeProgress() { writer.pending.append(progress) }
        if emissionCursor != stagedCursor {
            stagedCursor = emissionCursor
            writer.pending.append(emissionCursor)
        }
    }

    /// Begins the next segment. What was committed stays committed whatever happens here.
    private func rotate() {
        let checkpoint = Checkpoint(
            logs: ledger.logsInOrder.map { ($0.id, $0.durable) }, closedLogIDs: ledger.closedLogIDs, repaired: repaired,
            cursor: emissionCursor)
        do throws(FileFailure) {
            let place = Opening(
                directory: directory, deviceID: deviceID, receiverID: receiverID,
                segmentByteLimit: segmentByteLimit, latestUnixMilliseconds: latestUnixMilliseconds)
            let next = try SegmentWriter.create(
                writer.number + 1, place: place, checkpoint: checkpoint, fileSystem)
            fileSystem.close(writer.file)
            earlierByteCount += writer.writtenByteCount
            writer = next
            segments.append(next.number)
        } catch {
            // Without room the old segment grows on, once nothing is left of the new one: after a power cut that
            // would be the last one, and its checkpoint would lack what came since. The next commit tries again.
            if !error.isLackOfRoom || !isDiscarded(segment: writer.number + 1) { state = .failed(error) }
        }
    }

    /// Removes what there is of a segment, durably.
    private func isDiscarded(segment: UInt32) -> Bool {
        do throws(FileFailure) {
            do throws(FileFailure) { try fileSystem.remove(directory.path(ofSegment: segment)) } catch {
                guard error.isAbsence else { throw error }
            }
            try fileSystem.synchronizeDirectory(at: directory.path)
            return true
        } catch { return false }
    }
}
