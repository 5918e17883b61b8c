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

    package struct Band: Equatable, Sendable {
        package let lowerHertz: UInt32
        package let upperHertz: UInt32
        /// The part of each hour in which a radio may send, in millionths; nil for no limit.
        package let dutyCyclePartsPerMillion: Int64?
        /// The highest power that a radio may be set to, in dBm, for an antenna with the gain of a half-wave dipole (2.15 dBi) and
        /// a lossless cable. It is then the effective radiated power.
        package let maximumPowerDBm: Int8

        fileprivate init(_ lowerHertz: UInt32, _ upperHertz: UInt32, dutyCycle: Int64?, powerDBm: Int8) {
            (self.lowerHertz, self.upperHertz) = (lowerHertz, upperHertz)
            (dutyCyclePartsPerMillion, maximumPowerDBm) = (dutyCycle, powerDBm)
        }
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
        guard let band = band(of: settings) else { throw .frequencyOutsideBands(region: self, settings: settings) }
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
        return TransmitLimits(dutyCyclePartsPerMillion: band.dutyCyclePartsPerMillion, dwellMicroseconds: dwellMicroseconds)
    }

    /// Every region.
    ///
    /// The rules limit the radiated power, of an ideal dipole (e.r.p.) or of an antenna without gain (e.i.r.p.). The table has the
    /// power at the radio, for the antenna that ``Band/maximumPowerDBm`` names: an e.r.p. as it is, an e.i.r.p. less 2.15 dB, rounded
    /// down.
    ///
    /// RP002 is the LoRa Alliance's "RP002 LoRaWAN Regional Parameters", a digest of the rules of many countries, as quoted in its
    /// editions 1.0.3 revision A and 1.0.5.
    package static let all: [Region] = [
        // Source: ETSI EN 300 220-2 V3.2.1, table B.1: bands K, L, M, N, P and R; the same in CEPT ERC/REC 70-03, annex 1. 25 mW
        // are 14 dBm, 500 mW are 27 dBm. 868.6–868.7 and 869.2–869.4 MHz belong to alarms, with narrow channels.
        Region(
            "EU868",
            bands: [
                Band(863_000_000, 865_000_000, dutyCycle: 1000, powerDBm: 14),
                Band(865_000_000, 868_000_000, dutyCycle: 10_000, powerDBm: 14),
                Band(868_000_000, 868_600_000, dutyCycle: 10_000, powerDBm: 14),
                Band(868_700_000, 869_200_000, dutyCycle: 1000, powerDBm: 14),
                Band(869_400_000, 869_650_000, dutyCycle: 100_000, powerDBm: 27),
                Band(869_700_000, 870_000_000, dutyCycle: 10_000, powerDBm: 14),
            ],
            frequencyHertz: 869_525_000, powerDBm: 14),
        // Source: CEPT ERC/REC 70-03, annex 1, band f: 10 mW e.r.p., 10 %. The frequency is the highest that RP002 names.
        Region(
            "EU433", bands: [Band(433_050_000, 434_790_000, dutyCycle: 100_000, powerDBm: 10)],
            frequencyHertz: 434_665_000, powerDBm: 10),
        // Source of the band and the dwell time: 47 CFR 15.247 (a) and (f). Source of the power: RP002, US902-928, for systems of
        // fewer than 50 channels of 125 kHz. A stick has one.
        Region(
            "US915", bands: [Band(902_000_000, 928_000_000, dutyCycle: nil, powerDBm: 21)], dwellMicroseconds: 400_000,
            frequencyHertz: 915_000_000, powerDBm: 14),
        // Source of the band and the dwell time: RP002, AU915-928. It allows 30 dBm e.i.r.p. to systems of 20 channels and more; as
        // a stick has one channel, the power is that of US915.
        Region(
            "AU915", bands: [Band(915_000_000, 928_000_000, dutyCycle: nil, powerDBm: 21)], dwellMicroseconds: 400_000,
            frequencyHertz: 917_000_000, powerDBm: 14),
        // Source: RP002, AS923: 16 dBm e.i.r.p., 1 %, 400 ms, the frequency. The band is the one that most of the countries of its
        // group 1 have in common with Japan, whose rules also want a radio to listen before it sends.
        Region(
            "AS923", bands: [Band(920_000_000, 925_000_000, dutyCycle: 10_000, powerDBm: 13)], dwellMicroseconds: 400_000,
            frequencyHertz: 923_200_000, powerDBm: 13),
        // Source: RP002, IN865-867, with 30 dBm e.i.r.p. and no limit of time; the frequency is that of its second window.
        Region(
            "IN865", bands: [Band(865_000_000, 867_000_000, dutyCycle: nil, powerDBm: 27)],
            frequencyHertz: 866_550_000, powerDBm: 14),
        // Source: RP002, KR920-923: 10 dBm e.i.r.p. below 922 MHz, else 14 dBm; the frequency is one of its channels. Korea wants a
        // radio to listen before it sends, which not every stick does: 1 % is a precaution of this project.
        Region(
            "KR920",
            bands: [
                Band(920_900_000, 922_000_000, dutyCycle: 10_000, powerDBm: 7),
                Band(922_000_000, 923_300_000, dutyCycle: 10_000, powerDBm: 11),
            ],
            frequencyHertz: 922_500_000, powerDBm: 11),
        // Source: RP002, RU864-870: 16 dBm e.i.r.p., 1 %, the frequency; the 0.1 % of the lower band: the LoRa Alliance's draft
        // "RU 868 Regional Parameters v0.1". Its bands are those of the Russian decision 07-20-03-001, annex 11.
        Region(
            "RU864",
            bands: [
                Band(864_000_000, 865_000_000, dutyCycle: 1000, powerDBm: 13),
                Band(868_700_000, 869_200_000, dutyCycle: 10_000, powerDBm: 13),
            ],
            frequencyHertz: 868_900_000, powerDBm: 13),
        // Source: announcement 52 of 2019 of China's Ministry of Industry and Information Technology, on meters: 50 mW e.r.p., 1 s.
        // The frequency is one of RP002, CN470-510.
        Region(
            "CN470", bands: [Band(470_000_000, 510_000_000, dutyCycle: nil, powerDBm: 17)], dwellMicroseconds: 1_000_000,
            frequencyHertz: 505_300_000, powerDBm: 14),
    ]

    /// A region whose default settings are 125 kHz and a coding rate of 4/5.
    ///
    /// The default spreading factor is 9. Where a frame may take no more than 400 ms it is 8, so that it leaves room for frames of
    /// 100 bytes.
    private init(_ name: String, bands: [Band], dwellMicroseconds: Int64? = nil, frequencyHertz: UInt32, powerDBm: Int8) {
        self.name = name
        self.bands = bands
        self.dwellMicroseconds = dwellMicroseconds
        defaults = RadioSettings(
            frequencyHertz: frequencyHertz, bandwidthHertz: 125_000, spreadingFactor: dwellMicroseconds == 400_000 ? 8 : 9,
            codingRateDenominator: 5, powerDBm: powerDBm)
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

/// The limits that the rules of a region set to the transmissions of a radio.
package struct TransmitLimits: Equatable, Sendable {
    /// The part of each hour in which the radio may send, in millionths; nil for no limit.
    package var dutyCyclePartsPerMillion: Int64?
    /// The longest airtime of one frame, in microseconds; nil for no limit.
    package var dwellMicroseconds: Int64?

    package init(dutyCyclePartsPerMillion: Int64? = nil, dwellMicroseconds: Int64? = nil) {
        self.dutyCyclePartsPerMillion = dutyCyclePartsPerMillion
        self.dwellMicroseconds = dwellMicroseconds
    }
}
