extension OutputSpan<UInt8> {
    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Moves the bytes from `start` on, so that they begin at `newStart`. The bytes before `start` stay. If the tail moves up, the
    /// bytes between have no meaning.
    mutating func moveTail(from start: Int, to newStart: Int) {
        let tail = count &- start
        var rest = newStart &- start
        while rest > 0 {
            append(0)
            rest &-= 1
        }
        var bytes = mutableSpan
        var index = 0
        while index < tail {
            let place = newStart > start ? tail &- 1 &- index : index
            bytes[newStart &+ place] = bytes[start &+ place]
            index &+= 1
        }
        if newStart < start { removeLast(start &- newStart) }
    }

    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Exchanges the request id of two bytes and the receiver id of four bytes at the front of the payload.
    /// - Parameter isRequestIDFirst: their order before the call.
    mutating func exchangeRequestAndReceiverID(isRequestIDFirst: Bool) {
        var bytes = mutableSpan
        var rest = isRequestIDFirst ? 2 : 4
        while rest > 0 {
            let first = bytes[FrameHeader.byteCount]
            for index in FrameHeader.byteCount..<(FrameHeader.byteCount &+ 5) { bytes[index] = bytes[index &+ 1] }
            bytes[FrameHeader.byteCount &+ 5] = first
            rest &-= 1
        }
    }

    /// Appends the lowest `byteCount` bytes of a number, at most 4, the most significant one first.
    mutating func append(_ value: UInt32, byteCount: Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            append(UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest)))
        }
    }
}

extension MutableSpan<UInt8> {
    #if hasFeature(Embedded)
    @inline(never)
    #endif
    /// Writes the lowest `byteCount` bytes of a number, at most 4, the most significant one first, and moves `place` past them.
    mutating func write(_ value: UInt32, byteCount: Int, at place: inout Int) {
        var rest = byteCount
        while rest > 0 {
            rest &-= 1
            self[place] = UInt8(truncatingIfNeeded: value &>> UInt32(truncatingIfNeeded: 8 &* rest))
            place &+= 1
        }
    }
}
