@testable import RadioModems

/// The answers of an RNode that takes every setting.
struct RNodeAnswers {
    var held: [UInt8: [UInt8]] = [:]
    var version: [UInt8] = [1, 86]
    /// Answers that differ.
    var changed: (KISSFrame) -> KISSFrame? = { _ in nil }

    mutating func answer(_ question: KISSFrame) -> [KISSFrame] {
        if question.type == RNodeCommand.data { return [] }
        if let answer = changed(question) { return [answer] }
        switch question.type {
        case RNodeCommand.detect: return [KISSFrame(question.type, [RNodeCommand.detectAnswer])]
        case RNodeCommand.firmwareVersion: return [KISSFrame(question.type, version)]
        default:
            let isReading = question.type <= 2 && question.data == [0, 0, 0, 0] || question == KISSFrame(RNodeCommand.power, [0xFF])
            if !isReading { held[question.type] = question.data }
            return [KISSFrame(question.type, held[question.type] ?? [])]
        }
    }
}
