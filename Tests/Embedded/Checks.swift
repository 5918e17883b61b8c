import CollarWire

@_silgen_name("finish")
private func finish(_ allAgree: UInt32)

@_silgen_name("begin")
private func begin(_ name: UnsafePointer<UInt8>, _ count: UInt32)

/// Sets the name of the check that begins. The name is printed if the processor stops.
private func begin(_ name: TableBytes) {
    guard let start = name.baseAddress else { return }
    begin(start, UInt32(truncatingIfNeeded: name.count))
}

/// A buffer of 256 bytes, the same in every call.
@_silgen_name("output_buffer")
private func outputBuffer() -> UnsafeMutablePointer<UInt8>

/// Room for a frame or its serial form. All calls return the same memory.
func room(_ byteCount: Int) -> UnsafeMutableBufferPointer<UInt8> {
    UnsafeMutableBufferPointer(start: outputBuffer(), count: byteCount)
}

/// Checks everything in the table, and prints how much of it agrees.
@c(check_codec)
public func checkCodec() {
    var table = Table()
    var checks = Checks()
    for _ in 0..<table.word() { checks.checkValid(&table) }
    for _ in 0..<table.word() { checks.checkInvalid(&table) }
    checks.checkAccuracies(&table)
    checks.checkSealing(&table)
    checks.checkConstantTime()
    checks.report()
    finish(checks.disagreed == 0 ? 1 : 0)
}

/// Checks the vectors one after the other with one stream decoder, and counts the results.
struct Checks {
    private var stream = StreamDecoder()
    private var vectors: UInt32 = 0
    private var written: UInt32 = 0
    private var accuracies: UInt32 = 0
    private var sealing = SealingChecks()
    private var constantTime = ConstantTimeChecks()
    private(set) var disagreed: UInt32 = 0

    mutating func checkValid(_ table: inout Table) {
        let vector = Vector(&table)
        let expectation = Expectation(&table)
        begin(vector.name)
        vectors &+= 1
        if let fault = faultOfValid(vector, expectation) { complain(vector.name, fault) }
    }

    mutating func checkInvalid(_ table: inout Table) {
        let vector = Vector(&table)
        let error = table.bytes()
        let field = table.bytes()
        begin(vector.name)
        vectors &+= 1
        if let fault = faultOfInvalid(vector, error, field) { complain(vector.name, fault) }
    }

    /// Checks the scale of accuracies and its inverse.
    mutating func checkAccuracies(_ table: inout Table) {
        let name: StaticString = "accuracies"
        begin(TableBytes(start: name.utf8Start, count: name.utf8CodeUnitCount))
        for code in 0..<table.word() {
            accuracies &+= 1
            let millimeters = AccuracyCode(rawValue: UInt8(truncatingIfNeeded: code))?.millimeters
            if millimeters != table.word() { complain("millimetres of accuracy code ", code) }
        }
        for _ in 0..<table.word() {
            accuracies &+= 1
            let millimeters = table.word()
            let code = AccuracyCode(nearestToMillimeters: millimeters).rawValue
            if UInt32(code) != table.word() { complain("nearest accuracy code of millimetres ", millimeters) }
        }
    }

    /// Checks the known answers of Ascon, and the sealed vectors.
    mutating func checkSealing(_ table: inout Table) {
        let name: StaticString = "sealing"
        begin(TableBytes(start: name.utf8Start, count: name.utf8CodeUnitCount))
        for place in 0..<table.word() where !sealing.agreesWithKnownSealing(&table) {
            complain("known answer of Ascon-AEAD128, counted from 0: ", place)
        }
        for place in 0..<table.word() where !sealing.agreesWithKnownHash(&table) {
            complain("known answer of Ascon-CXOF128, counted from 0: ", place)
        }
        for _ in 0..<table.word() {
            let vector = SealedVector(&table)
            begin(vector.name)
            vectors &+= 1
            if let fault = vector.fault() { complain(vector.name, fault) }
        }
    }

    /// Checks that the time of sealing and opening depends on no secret.
    mutating func checkConstantTime() {
        let name: StaticString = "constant time"
        begin(TableBytes(start: name.utf8Start, count: name.utf8CodeUnitCount))
        if !constantTime.isDerivingConstant() { complain("the time of deriving keys depends on the key") }
        if !constantTime.isSealingConstant(typeCode: MessageType.batch.rawValue, byteCount: 45) {
            complain("the time of sealing a batch depends on the key or the plaintext")
        }
        if !constantTime.isSealingConstant(typeCode: MessageType.identity.rawValue, byteCount: 47) {
            complain("the time of sealing an identity depends on the key or the plaintext")
        }
        if !constantTime.isRefusingConstant() { complain("the time of refusing a frame depends on its tag, key or ciphertext") }
    }

    func report() {
        let checked = vectors &+ accuracies &+ sealing.count &+ constantTime.count
        printNumber(checked)
        printText(" checked: ")
        printNumber(vectors)
        printText(" vectors, of which ")
        printNumber(written)
        printText(" written again, ")
        printNumber(sealing.count)
        printText(" known answers, ")
        printNumber(accuracies)
        printText(" accuracies, and ")
        printNumber(constantTime.count)
        printText(" comparisons of time\n")
        printNumber(checked &- disagreed)
        printText(" agree, ")
        printNumber(disagreed)
        printText(" disagree\n")
    }

    /// The first fault in decoding and encoding a valid vector; nil if there is none.
    private mutating func faultOfValid(_ vector: Vector, _ expectation: Expectation) -> StaticString? {
        let outcome = stream.take(vector.serial.span)
        guard outcome.frameCount == 1, outcome.faultCount == 0, isEqual(stream.frame, vector.bare.span) else {
            return "the serial form gives another frame"
        }
        guard isSerialFormSame(vector) else { return "the serial form is written differently" }
        let message: Message
        do throws(DecodeError) { message = try vector.decode(stream.frame) } catch { return error.name }
        guard expectation.isMet(by: message) else { return "it decodes to other fields" }
        let byteLimit = vector.isCanonical ? vector.bare.count : Frame.maximumByteCount
        var frame = OutputSpan(buffer: room(byteLimit), initializedCount: 0)
        do throws(EncodeError) { try vector.encode(message, expectation, into: &frame) } catch {
            return "it cannot be written again"
        }
        written &+= 1
        vector.addFlags(to: &frame)
        if vector.isCanonical { return isEqual(frame.span, vector.bare.span) ? nil : "it is written differently" }
        do throws(DecodeError) {
            return expectation.isMet(by: try vector.decode(frame.span)) ? nil : "it is written with other fields"
        } catch { return "what is written cannot be read" }
    }

    private func isSerialFormSame(_ vector: Vector) -> Bool {
        let byteCount = StreamEncoder.encodedByteCount(for: vector.bare.count)
        var serial = OutputSpan(buffer: room(byteCount), initializedCount: 0)
        StreamEncoder.encode(vector.bare.span, into: &serial)
        return isEqual(serial.span, vector.serial.span)
    }

    /// The first fault in refusing an invalid vector; nil if there is none.
    private mutating func faultOfInvalid(_ vector: Vector, _ error: TableBytes, _ field: TableBytes) -> StaticString? {
        let outcome = stream.take(vector.serial.span)
        if isEqual(error, "too_short") || isEqual(error, "too_long") || isEqual(error, "stuffing") {
            guard outcome.frameCount == 0, outcome.faultCount == 1, let fault = outcome.fault,
                isEqual(error, fault.name)
            else { return "the serial form is not refused so" }
        } else {
            guard outcome.frameCount == 1, outcome.faultCount == 0, isEqual(stream.frame, vector.bare.span) else {
                return "the serial form gives another frame"
            }
        }
        guard vector.bare.count > 0 else { return nil }
        do throws(DecodeError) { _ = try vector.decode(vector.bare.span) } catch let refusal {
            if refusal.isNamed(error, field: field) { return nil }
            return isEqual(error, refusal.name) ? "it is refused for another field" : refusal.name
        }
        return "it is accepted"
    }

    private mutating func complain(_ name: TableBytes, _ fault: StaticString) {
        disagreed &+= 1
        printText("FAILED  ")
        printText(name)
        printText(": ")
        printText(fault)
        printText("\n")
    }

    private mutating func complain(_ fault: StaticString) {
        disagreed &+= 1
        printText("FAILED  ")
        printText(fault)
        printText("\n")
    }

    private mutating func complain(_ what: StaticString, _ number: UInt32) {
        disagreed &+= 1
        printText("FAILED  ")
        printText(what)
        printNumber(number)
        printText("\n")
    }
}
