/// The contexts of a live fix.
enum LiveBlock {
    static let sameShape = 0
    static let sameRest = 1
    static let rest = IntegerBlock(base: 4, exponentCount: 9, depth: 0, isSigned: true)
    static let interval = IntervalBlocks(
        backward: 37, minutes: IntegerBlock(base: 38, exponentCount: 8, depth: 3, isSigned: false),
        seconds: IntegerBlock(base: 93, exponentCount: 5, depth: 2, isSigned: false),
        secondRest: IntegerBlock(base: 112, exponentCount: 5, depth: 1, isSigned: true), restInstanceCount: 3)
    static let speedChange = IntegerBlock(base: 148, exponentCount: 6, depth: 1, isSigned: true)
    static let speed = IntegerBlock(base: 176, exponentCount: 6, depth: 1, isSigned: false)
    static let latitude = IntegerBlock(base: 202, exponentCount: 10, depth: 1, isSigned: true)
    static let longitude = IntegerBlock(base: 466, exponentCount: 10, depth: 1, isSigned: true)
    static let altitude = IntegerBlock(base: 994, exponentCount: 8, depth: 1, isSigned: true)
    static let accuracy = IntegerBlock(base: 1102, exponentCount: 5, depth: 1, isSigned: true)
    static let angle = IntegerBlock(base: 1138, exponentCount: 7, depth: 0, isSigned: true)
    static let battery = IntegerBlock(base: 1156, exponentCount: 6, depth: 0, isSigned: true)
}
