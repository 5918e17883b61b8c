import CheckedNumbers
import Glibc
import LinuxSystem

extension PermissionFacts {
    /// Gathers the facts about an `open` of the path that failed with EACCES or EPERM. If user names come from a directory
    /// service, this may query that service over the network.
    package init(opening path: String, errno cause: Int32) {
        errno = cause
        accessIsGranted = unsafe faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0
        var status = stat()
        if unsafe stat(path, &status) == 0 {
            node = Node(
                mode: status.st_mode, owner: UserDatabase.userName(status.st_uid), group: status.st_gid,
                groupName: UserDatabase.groupName(status.st_gid))
            udevdIsBusy = status.st_mode & S_IFMT == S_IFCHR && Udevd.isBusy(with: status.st_rdev)
        } else {
            node = nil
        }
        let userID = geteuid()
        user = UserDatabase.userName(userID)
        processGroups = UserDatabase.processGroups()
        databaseGroups = UserDatabase.groups(of: userID)
        unmappedGroup = SystemFiles.firstLine(of: "/proc/sys/kernel/overflowgid").flatMap { UInt32($0, in: 0 ... .max) } ?? 65_534
    }
}
