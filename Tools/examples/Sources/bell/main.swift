// Rings the bell of the terminal each time that an animal leaves a place, and says which:
//
//   bell [ANIMAL]
//
// It needs a receiver (`collar-link run`) and a place (`collar-link place home here`). What happens while it does not run is told at its
// next start. After an error that may pass, such as a full disk, it goes on by itself.
import CollarLink
import Glibc

let alerts = Collar(CommandLine.arguments.dropFirst().first).alerts(as: "bell")
while true {
    do throws(UserFacingError) {
        for try await alert in alerts {
            guard case .left = alert.kind else { continue }
            print("\u{7}\(alert.text)")
            // In a pipe or under systemd, lines would wait for one another.
            fflush(nil)
        }
    } catch {
        print(error)
        fflush(nil)
        guard error.isRetryable else { exit(1) }
        try? await Task.sleep(for: .seconds(9))
    }
}
