/// The contexts of a batch.
enum BatchBlock {
    static let gap = IntegerBlock(base: 0, exponentCount: 4, depth: 0, isSigned: false)
    static let shape = 5
    static let rest = IntegerBlock(base: 14, exponentCount: 4, depth: 1, isSigned: true)
    static let sameInterval = 44
    static let interval = IntervalBlocks(
        backward: 47, minutes: IntegerBlock(base: 48, exponentCount: 9, depth: 1, isSigned: false),
        seconds: IntegerBlock(base: 67, exponentCount: 6, depth: 1, isSigned: false),
        secondRest: IntegerBlock(base: 80, exponentCount: 6, depth: 0, isSigned: true), restInstanceCount: 2)
    static let speedChange = IntegerBlock(base: 96, exponentCount: 5, depth: 0, isSigned: true)
    static let speed = IntegerBlock(base: 117, exponentCount: 5, depth: 1, isSigned: false)
    static let position = IntegerBlock(base: 128, exponentCount: 8, depth: 0, isSigned: true)
    static let altitude = IntegerBlock(base: 218, exponentCount: 6, depth: 0, isSigned: true)
    static let accuracy = IntegerBlock(base: 258, exponentCount: 4, depth: 0, isSigned: true)
    static let angle = IntegerBlock(base: 264, exponentCount: 6, depth: 0, isSigned: true)
    static let battery = IntegerBlock(base: 280, exponentCount: 4, depth: 0, isSigned: true)
}
