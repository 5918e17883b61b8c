// Asks a collar where it is, lets it sound, and says how far away it is:
//
//   find ANIMAL LATITUDE LONGITUDE
//
// The angles are those of the owner, in degrees. It needs a receiver (`collar-link run`).
import CollarLink
import Glibc
import Observation

let arguments = CommandLine.arguments
guard arguments.count == 4, let latitude = Double(arguments[2]), let longitude = Double(arguments[3]) else {
    print("usage: find ANIMAL LATITUDE LONGITUDE")
    exit(64)
}
let tracker = PetTracker(Collar(arguments[1]))
tracker.ownerLocation = LocationFix.Coordinate(latitude: latitude, longitude: longitude)
do throws(UserFacingError) {
    try await tracker.collar.locate()
    try await tracker.collar.sound(seconds: 3)
} catch {
    print(error)
    exit(1)
}
tracker.startTracking()
for await fix in Observations({ tracker.latestPetLocation }) where fix != nil { break }
let distance = tracker.distanceFromOwner.map { "\(Int($0.rounded())) m" } ?? "an unknown distance"
print("\(distance) from you, accuracy \(tracker.accuracyWord ?? "unknown"), \(Int(tracker.timeSinceLastUpdate ?? 0)) s ago")
