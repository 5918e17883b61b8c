/// The answers of a RUI3 stick that takes every setting.
enum RUI3Answers {
    static func answers(_ line: String, version: String = "RUI_4.0.6_RAK3172-E", mode: Int = 0) -> [String] {
        switch line {
        case "AT+NWM=?": ["AT+NWM=\(mode)", "OK"]
        case "AT+VER=?": ["AT+VER=\(version)", "OK"]
        case "AT+P2P=?": ["AT+P2P=869525000:7:0:0:8:14", "OK"]
        default: ["OK"]
        }
    }
}
