/// The contexts of a batch.
enum BatchBlock {
    static var gap: IntegerBlock { IntegerBlock(base: 0, exponentCount: 4, depth: 0, isSigned: false) }
    static let shape = 5
    static var rest: IntegerBlock { IntegerBlock(base: 14, exponentCount: 4, depth: 1, isSigned: true) }
    static let sameInterval = 44
    static var interval: IntervalBlocks {
        IntervalBlocks(
            minutes: IntegerBlock(base: 48, exponentCount: 9, depth: 1, isSigned: false),
            seconds: IntegerBlock(base: 67, exponentCount: 6, depth: 1, isSigned: false),
            secondRest: IntegerBlock(base: 80, exponentCount: 6, depth: 0, isSigned: true), lastRestInstance: 1)
    }
    static var speedChange: IntegerBlock { IntegerBlock(base: 96, exponentCount: 5, depth: 0, isSigned: true) }
    static var speed: IntegerBlock { IntegerBlock(base: 117, exponentCount: 5, depth: 1, isSigned: false) }
    static var position: IntegerBlock {
        IntegerBlock(base: 128, exponentCount: 8, depth: 0, isSigned: true, isCircular: true)
    }
    static var altitude: IntegerBlock { IntegerBlock(base: 218, exponentCount: 6, depth: 0, isSigned: true) }
    static var accuracy: IntegerBlock { IntegerBlock(base: 258, exponentCount: 4, depth: 0, isSigned: true) }
    static var angle: IntegerBlock { IntegerBlock(base: 264, exponentCount: 6, depth: 0, isSigned: true) }
    static var battery: IntegerBlock { IntegerBlock(base: 280, exponentCount: 4, depth: 0, isSigned: true) }
    static let step = 310
}
