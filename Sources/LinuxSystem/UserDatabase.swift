import Glibc

package enum UserDatabase {
    /// Size of the buffer for one entry, in bytes; the database itself suggests 1024. A group whose members do not fit is
    /// shown by its number.
    private static let entryByteCount = 65_536

    /// The user's name, or the number when there is none.
    package static func userName(_ id: UInt32) -> String {
        let name = unsafe withEntry(of: id) { entry in
            unsafe entry.pw_name.map { unsafe String(cString: $0) }
        }
        return name ?? String(id)
    }

    /// The group's name, or the number when there is none.
    package static func groupName(_ id: UInt32) -> String {
        let name = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: entryByteCount) { buffer -> String? in
            var entry = unsafe group()
            var found: UnsafeMutablePointer<group>?
            guard let text = buffer.baseAddress,
                unsafe getgrgid_r(id, &entry, text, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            return unsafe entry.gr_name.map { unsafe String(cString: $0) }
        }
        return name ?? String(id)
    }

    /// The groups of this process, each once, the effective one first.
    package static func processGroups() -> [UInt32] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [getegid()] }
        var groups = [UInt32](repeating: 0, count: Int(count))
        let written = unsafe getgroups(count, &groups)
        // Where a session was set up by initgroups(3), the list has the effective group, too.
        return [getegid()] + groups.prefix(Int(max(written, 0))).filter { $0 != getegid() }
    }

    /// The groups that a new session of the user would have.
    package static func groups(of user: UInt32) -> [UInt32] {
        let groups = unsafe withEntry(of: user) { entry -> [UInt32]? in
            guard let name = unsafe entry.pw_name else { return nil }
            var count: Int32 = 1_024
            var groups = [UInt32](repeating: 0, count: Int(count))
            guard unsafe getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return nil }
            return Array(groups.prefix(Int(count)))
        }
        return groups ?? []
    }

    /// Calls `body` with the user's entry, whose strings are valid only during the call. Nil when there is no entry.
    private static func withEntry<Value>(of user: UInt32, _ body: (passwd) -> Value?) -> Value? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: entryByteCount) { buffer -> Value? in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let text = buffer.baseAddress,
                unsafe getpwuid_r(user, &entry, text, buffer.count, &found) == 0, unsafe found != nil
            else { return nil }
            return unsafe body(entry)
        }
    }
}
