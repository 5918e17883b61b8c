/// The contexts of a live fix.
enum LiveBlock {
    static let sameShape = 0
    static let scheduled = 1
    static let schedule = 13
    static let still = 75
    static let sameRest = 87
    static var rest: IntegerBlock { IntegerBlock(base: 90, exponentCount: 9, depth: 0, isSigned: true) }
    static var interval: IntervalBlocks {
        IntervalBlocks(
            minutes: IntegerBlock(base: 124, exponentCount: 8, depth: 3, isSigned: false),
            seconds: IntegerBlock(base: 179, exponentCount: 5, depth: 2, isSigned: false),
            secondRest: IntegerBlock(base: 198, exponentCount: 5, depth: 4, isSigned: true), lastRestInstance: 2)
    }
    static var speedChange: IntegerBlock { IntegerBlock(base: 342, exponentCount: 6, depth: 1, isSigned: true) }
    static var speed: IntegerBlock { IntegerBlock(base: 370, exponentCount: 6, depth: 1, isSigned: false) }
    static var latitude: IntegerBlock { IntegerBlock(base: 396, exponentCount: 10, depth: 0, isSigned: true) }
    static var longitude: IntegerBlock { IntegerBlock(base: 756, exponentCount: 10, depth: 0, isSigned: true) }
    static var altitude: IntegerBlock { IntegerBlock(base: 1260, exponentCount: 8, depth: 1, isSigned: true) }
    static var accuracy: IntegerBlock { IntegerBlock(base: 1368, exponentCount: 5, depth: 1, isSigned: true) }
    static var angle: IntegerBlock { IntegerBlock(base: 1404, exponentCount: 7, depth: 0, isSigned: true) }
    static var battery: IntegerBlock {
        IntegerBlock(base: 1422, exponentCount: 6, depth: 0, isSigned: true, isFalling: true)
    }
}
