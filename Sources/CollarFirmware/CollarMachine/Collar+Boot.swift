import CollarARQ
import CollarWire

extension Collar {
    /// The contents of a collar's flash after its boot was counted.
    ///
    /// A collar is made from its boot. The boot needs much stack, and while it runs there is no collar on the stack yet.
    struct Boot {
        var flash: Flash
        var settingsStore: SettingsStore<Flash>
        var keyStore: KeyStore<Flash>
        let fixLog: FixLog<Flash>
        let log: LogIdentity
        let bootCount: UInt32
        let silence: Silence?

        /// Mounts the flash, formats the log if there is none, and counts the boot durably.
        @inline(never) init(
            mounting flash: consuming Flash, _ configuration: Configuration, randomLogID: UInt32
        ) throws(FlashError) {
            self.flash = flash
            settingsStore = try SettingsStore(mounting: &self.flash)
            keyStore = try KeyStore(mounting: &self.flash)
            let firstLogBlock = SettingsStore<Flash>.blockCount + KeyStore<Flash>.blockCount
            let marks = try FixLog.marks(in: &self.flash, firstBlock: firstLogBlock)
            let wasKeyed = settingsStore.value(of: .keyGeneration) != nil || marks?.isKeyed ?? false
            var silence: Silence?
            if keyStore.key == nil {
                if wasKeyed {
                    silence = .keyLost
                } else if let key = configuration.factoryKey {
                    try keyStore.replace(with: key, beginsLog: false, after: 0, in: &self.flash)
                }
            }
            self.silence = silence
            let bootCount = Self.nextBootCount(after: settingsStore.value(of: .bootCount) ?? 0, marks)
            let keyGeneration = UInt64(widening: keyStore.generation)
            let beginsLog = settingsStore.value(of: .keyGeneration) ?? 0 < UInt64(widening: keyStore.logGeneration)
            let formerLogID = settingsStore.value(of: .logID)
            let isStoreEmpty = settingsStore.value(of: .bootCount) == nil
            // Without any boot count, a number of a frame could be used twice in a log that goes on.
            let isCountLost = isStoreEmpty && marks == nil
            // A key that begins a log also begins with the default settings: none are lost. But if the log has blocks and the store
            // is empty, there may have been settings.
            var lostVersion = beginsLog ? nil : settingsStore.value(of: .settingsLost)
            if isStoreEmpty, marks != nil { lostVersion = 1 }
            // The values change together: the store writes such a change by a move to the other block, and on a new flash or with
            // a new key by two moves. So both blocks hold the id of a new log.
            try settingsStore.change(in: &self.flash) {
                if beginsLog || isCountLost { $0 = StoredValues() }
                $0[.settingsLost] = lostVersion
                $0[.bootCount] = bootCount
                let random = UInt64(widening: LogID(lowBitsOf: randomLogID).rawValue)
                $0[.logID] = $0[.logID] ?? (random == formerLogID ? random ^ 1 : random)
                if keyGeneration > 0 { $0[.keyGeneration] = keyGeneration }
            }
            self.bootCount = UInt32(truncatingIfNeeded: bootCount)
            let logID = LogID(lowBitsOf: UInt32(truncatingIfNeeded: settingsStore.value(of: .logID) ?? 0))
            log = LogIdentity(deviceID: configuration.deviceID, logID: logID)
            let usedSequences = max(
                settingsStore.sequence(of: .firstUndelivered, logID: logID),
                settingsStore.sequence(of: .formerlyDelivered, logID: logID))
            let isKeyed = keyStore.key != nil
            var fixLog = try FixLog(
                mounting: &self.flash, firstBlock: firstLogBlock, logID: logID, usedSequences: usedSequences,
                marks: LogBlockMarks(bootCount: self.bootCount, isKeyed: isKeyed || silence != nil))
            let isBootCountFar = marks.map { bootCount > UInt64(widening: $0.bootCount) + Self.markedBootCounts } ?? false
            if isBootCountFar || isKeyed && marks?.isKeyed != true { try fixLog.beginBlock(in: &self.flash) }
            self.fixLog = fixLog
        }

        /// How far the boot count may be above the highest one that a block of the log notes.
        private static var markedBootCounts: UInt64 { 32_768 }

        /// The count of this boot.
        /// - Parameters:
        ///   - stored: the count that the settings store holds; 0 if it was lost.
        ///   - marks: those of the log. If they show a higher count than the stored one, the store lost the count of later boots.
        private static func nextBootCount(after stored: UInt64, _ marks: LogBlockMarks?) -> UInt64 {
            let marked = marks.map { UInt64(widening: $0.bootCount) } ?? 0
            return min(marked > stored ? marked + 2 * markedBootCounts : stored + 1, 0xFFFF_FFFF)
        }
    }
}
