@_silgen_name("print_bytes")
private func printBytes(_ bytes: UnsafePointer<UInt8>, _ count: UInt32)

func printText(_ text: StaticString) {
    printBytes(text.utf8Start, UInt32(truncatingIfNeeded: text.utf8CodeUnitCount))
}

func printText(_ text: UnsafeBufferPointer<UInt8>) {
    guard let start = text.baseAddress else { return }
    printBytes(start, UInt32(truncatingIfNeeded: text.count))
}

/// Prints a number in decimal.
func printNumber(_ number: UInt32) {
    if number >= 10 { printNumber(number / 10) }
    var digit = 0x30 &+ UInt8(truncatingIfNeeded: number % 10)
    printBytes(&digit, 1)
}
