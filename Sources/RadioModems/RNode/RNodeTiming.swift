/// How RNode firmware listens before it talks, and the preamble that it sends.
///
/// Before it sends, the channel must be free for two slots (DIFS), and then for a number of slots that it draws from a window. The
/// more it has sent in the last 15 s, the later the window begins.
///
/// Source: RNode_Firmware 1.86, `Config.h` lines 86–95 and 101–117, `updateBitrate` in `Utilities.h` from line 1242 on, and
/// `update_csma_parameters` and `tx_queue_handler` in `RNode_Firmware.ino` from line 1603 on.
package struct RNodeTiming: Equatable, Sendable {
    package static let windowSlots: Int64 = 15
    /// The most airtime in the last 15 s with which the first window holds, in hundredths of a per cent. The firmware cuts the share
    /// to whole per cent.
    package static let firstWindowLimit: UInt16 = 799
    /// The same for the second window, and for the third.
    package static let secondWindowLimit: UInt16 = 3899
    package static let thirdWindowLimit: UInt16 = 7799

    /// Duration of a slot, in microseconds; 0 … 65,535,000.
    package var slotMicroseconds: Int64
    /// Time for which the channel must be free before the drawn slots count, in microseconds; 0 … 65,535,000.
    package var fixedMicroseconds: Int64
    /// Symbols of the preamble, 1 … 65,535.
    package var preambleSymbols: UInt16
    /// Whether the packets that wait go out together after one wait for a free channel. At more than 14,000 bit/s each of them waits.
    package let sendsTogether: Bool

    /// The timing of the firmware with these settings.
    package init(_ settings: RadioSettings) {
        let symbol = max(1, settings.symbolMicroseconds)
        let bitsPerSecond =
            Int64(settings.spreadingFactor) * 4 * 1_000_000 / (symbol * Int64(max(1, settings.codingRateDenominator)))
        // With more than 30,000 bit/s a slot and the preamble may take 18 ms less.
        let shortest: Int64 = bitsPerSecond > 30_000 ? 6000 : 24_000
        let slot = min(12 * symbol, 100_000)
        // The firmware counts whole milliseconds.
        slotMicroseconds = (slot < 24_000 ? shortest : slot) / 1000 * 1000
        fixedMicroseconds = 2 * slotMicroseconds
        preambleSymbols = UInt16(clamping: max(18, (shortest + symbol - 1) / symbol))
        sendsTogether = bitsPerSecond <= 14_000
    }

    /// The number of the window, from 1 on, after so much airtime in the last 15 s.
    package static func window(afterHundredthsOfPercent airtime: UInt16) -> Int64 {
        switch airtime {
        case ...firstWindowLimit: 1
        case ...secondWindowLimit: 2
        case ...thirdWindowLimit: 3
        default: 4
        }
    }

    /// The longest wait on a channel that stays free, in microseconds, for the given largest number of slots.
    package func longestWait(slots: Int64) -> Int64 { fixedMicroseconds + slots * slotMicroseconds }

    /// The most slots that are drawn from the second window: 28. A stick that answers one collar each second has sent more than 7 % of
    /// the time, so that the first window, with fourteen slots at most, is not enough.
    package static let usualSlots: Int64 = 2 * windowSlots - 2
}
