extension Journal {
    /// Writes all appended records with one write, makes them durable, and only then counts them as durable.
    ///
    /// If only the emission cursor has changed, it is written without waiting for the disk: it survives the end of the
    /// process, and a power cut at worst repeats lines. If the file was removed, the commit fails and nothing may be
    /// acknowledged, not even what was durable before: earlier acknowledgements may not have arrived, and the collar then
    /// still holds those fixes.
    /// - Throws: the failure. ``state`` says whether another attempt makes sense: a full disk loses nothing; after any other
    ///   failure the journal must be opened again.
    package func commit() throws(JournalError) {
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
            if !ledger.isSettled || isSealedProgressPending { try writer.synchronize(fileSystem) }
            try fileSystem.checkName(of: writer.file)
        } catch {
            state = .failed(error)
            throw .file(error)
        }
        isSealedProgressPending = false
        guard !ledger.isSettled else { return }
        ledger.settle()
        if writer.isFull(limit: place.segmentByteLimit) { rotate() }
    }

    /// Adds the records that end a commit.
    private func stageProgress() {
        for progress in ledger.takeProgress() { writer.pending.append(progress) }
        if emissionCursor != stagedCursor {
            stagedCursor = emissionCursor
            writer.pending.append(emissionCursor)
        }
        // At the size limit nothing is answered, so the progress need not be durable.
        if let sealedProgress, sealedProgress != stagedSealedProgress, !isAtByteLimit {
            stagedSealedProgress = sealedProgress
            isSealedProgressPending = true
            writer.pending.append(sealedProgress)
        }
        // After a power cut that loses this record, the collar counts at its former address until it sends its identity.
        if let address, address != stagedAddress, !isAtByteLimit {
            stagedAddress = address
            writer.pending.append(address: address)
        }
        // After a power cut that loses this record, the collar tells its heartbeat again, and a warning may come twice.
        if memory != stagedMemory, !isAtByteLimit {
            stagedMemory = memory
            writer.pending.append(memory)
        }
    }

    /// Begins the next segment. A failure here does not undo the commit before it.
    private func rotate() {
        let checkpoint = Checkpoint(
            logs: ledger.logsInOrder.map { ($0.id, $0.durable) }, repaired: repaired, cursor: emissionCursor,
            sealed: sealedProgress, address: address, memory: memory)
        let number = writer.number + 1
        let byteCount: Int
        do throws(FileFailure) {
            byteCount = try SegmentWriter.makeFile(number, place: place, checkpoint: checkpoint, fileSystem)
        } catch {
            // On a full disk the old segment goes on growing, and the next commit tries again.
            if !error.isLackOfRoom { state = .failed(error) }
            return
        }
        do throws(FileFailure) {
            let next = try SegmentWriter.openNew(number, byteCount, place: place, fileSystem)
            fileSystem.close(writer.file)
            earlierByteCount += writer.writtenByteCount
            writer = next
            segments.append(number)
        } catch {
            // The old segment cannot go on growing: the new one may be the last one after a power cut, and its checkpoint would
            // lack later records.
            state = .failed(error)
        }
    }
}
