/// Losses of data in the two blocks of the settings store.
extension TestFlash {
    /// A loss of data in a block.
    enum Loss: CaseIterable {
        case erased, cleared, withoutHeader, withoutHeaderMark
    }

    mutating func lose(_ loss: Loss, block: Int) {
        let start = block * blockByteCount
        let end = start + blockByteCount
        switch loss {
        case .erased: overwrite(start..<end) { _ in 0xFF }
        case .cleared: overwrite(start..<end) { _ in 0 }
        case .withoutHeader: overwrite(start..<(start + 16)) { _ in 0 }
        case .withoutHeaderMark: overwrite(start..<(start + 1)) { $0 & 0xF0 }
        }
    }

    /// The block with the higher generation. An erased block has no generation.
    var newestSettingsBlock: Int {
        let generations = (0..<2).map { block in
            contents[(block * blockByteCount + 4)..<(block * blockByteCount + 8)].reduce(0) { $0 << 8 | Int($1) }
        }
        return generations[0] == 0xFFFF_FFFF || generations[1] != 0xFFFF_FFFF && generations[1] > generations[0] ? 1 : 0
    }
}
