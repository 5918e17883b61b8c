/// The rules of a part of the world for radios that need no licence, as far as they concern a stick.
///
/// They are what this program keeps to, not legal advice: a country may have further rules, for example about who may use a
/// band, and about antennas.
package struct Region: Equatable, Sendable {
    /// The name that a person types, such as `EU868`.
    package let name: String
    /// The bands in which a radio may send, by frequency. A channel must lie within one of them.
    package let bands: [Band]
    /// The longest airtime of one frame, in microseconds; nil for no limit.
    package let dwellMicroseconds: Int64?
    /// The settings of a radio for which a person has chosen nothing but the region. They obey the region's rules.
    package let defaults: RadioSettings

    /// A band and its rules.
    package struct Band: Equatable, Sendable {
        /// The lower edge, in hertz.
        package let lowerHertz: UInt32
        /// The upper edge, in hertz.
        package let upperHertz: UInt32
        /// The part of each hour in which a radio may send, in millionths; nil for no limit.
        package let dutyCyclePartsPerMillion: Int64?
        /// The highest power that a radio may be set to, in dBm, for an antenna with the gain of a half-wave dipole (2.15 dBi) and
        /// a lossless cable. It is then the effective radiated power.
        package let maximumPowerDBm: Int8
    }

    /// The region with a name, in upper or lower case; nil if there is none.
    package static func named(_ name: String) -> Region? {
        let name = name.uppercased()
        return all.first { $0.name == name }
    }

    /// Bytes of a frame that a radio must be able to send within ``dwellMicroseconds``. A fix with every field takes 31, sealed;
    /// an answer that lists a few gaps takes about 50.
    package static let neededFrameByteCount = 51

    /// The band in which the channel of these settings lies: the frequency with half the bandwidth on each side. Nil if the channel
    /// is not within one band.
    package func band(of settings: RadioSettings) -> Band? {
        // Twice the frequencies, so that half an odd bandwidth needs no rounding.
        let lower = 2 * Int64(settings.frequencyHertz) - Int64(settings.bandwidthHertz)
        let upper = 2 * Int64(settings.frequencyHertz) + Int64(settings.bandwidthHertz)
        return bands.first { 2 * Int64($0.lowerHertz) <= lower && upper <= 2 * Int64($0.upperHertz) }
    }

    /// The limits to the transmissions of a radio with these settings.
    /// - Throws: the rule that the settings break.
    package func limits(for settings: RadioSettings) throws(RegionError) -> TransmitLimits {
        guard let band = band(of: settings) else {
            throw .frequencyOutsideBands(region: self, settings: settings)
        }
        guard settings.powerDBm <= band.maximumPowerDBm else {
            throw .powerTooHigh(region: self, settings: settings, maximumDBm: band.maximumPowerDBm)
        }
        if let dwellMicroseconds {
            // The stick that sends the longest preamble decides: which one it is may not be known yet.
            let airtime = Dialect.allCases.map {
                settings.profile(of: $0).airtimeMicroseconds(frameByteCount: Region.neededFrameByteCount)
            }.max() ?? 0
            guard airtime <= dwellMicroseconds else {
                throw .framesTooLong(
                    region: self, settings: settings, airtimeMicroseconds: airtime, limitMicroseconds: dwellMicroseconds)
            }
        }
        return TransmitLimits(
            dutyCyclePartsPerMillion: band.dutyCyclePartsPerMillion, dwellMicroseconds: dwellMicroseconds)
    }
}

/// The rule of a region that settings break.
package enum RegionError: Error, Equatable, Sendable {
    /// The channel (the frequency with half the bandwidth on each side) is in none of the region's bands.
    case frequencyOutsideBands(region: Region, settings: RadioSettings)
    /// The power is above the maximum of the band, which is `maximumDBm`.
    case powerTooHigh(region: Region, settings: RadioSettings, maximumDBm: Int8)
    /// A frame of 51 bytes takes `airtimeMicroseconds`, and no frame may take more than `limitMicroseconds`.
    case framesTooLong(region: Region, settings: RadioSettings, airtimeMicroseconds: Int64, limitMicroseconds: Int64)
}
