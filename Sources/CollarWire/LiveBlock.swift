/// The contexts of a live fix.
enum LiveBlock {
    static let sameShape = 0
    static let sameRest = 1
    static var rest: IntegerBlock { IntegerBlock(base: 4, exponentCount: 9, depth: 0, isSigned: true) }
    static var interval: IntervalBlocks {
        IntervalBlocks(
            minutes: IntegerBlock(base: 38, exponentCount: 8, depth: 3, isSigned: false),
            seconds: IntegerBlock(base: 93, exponentCount: 5, depth: 2, isSigned: false),
            secondRest: IntegerBlock(base: 112, exponentCount: 5, depth: 1, isSigned: true), lastRestInstance: 2)
    }
    static var speedChange: IntegerBlock { IntegerBlock(base: 148, exponentCount: 6, depth: 1, isSigned: true) }
    static var speed: IntegerBlock { IntegerBlock(base: 176, exponentCount: 6, depth: 1, isSigned: false) }
    static var latitude: IntegerBlock { IntegerBlock(base: 202, exponentCount: 10, depth: 1, isSigned: true) }
    static var longitude: IntegerBlock { IntegerBlock(base: 466, exponentCount: 10, depth: 1, isSigned: true) }
    static var altitude: IntegerBlock { IntegerBlock(base: 994, exponentCount: 8, depth: 1, isSigned: true) }
    static var accuracy: IntegerBlock { IntegerBlock(base: 1102, exponentCount: 5, depth: 1, isSigned: true) }
    static var angle: IntegerBlock { IntegerBlock(base: 1138, exponentCount: 7, depth: 0, isSigned: true) }
    static var battery: IntegerBlock { IntegerBlock(base: 1156, exponentCount: 6, depth: 0, isSigned: true) }
}
