extension CurrentTable {
    /// The table that is used where a person names no other. A test compares it with `hardware/power/currents.txt`, which says what it
    /// means.
    package static let defaultText = """
        # The currents of a collar's parts, and its cell. `collar-link simulate --days 1 --currents FILE` computes with a copy.
        # A line: name, value, unit, source. Currents are those of data sheets at 3.0 to 3.3 V and 25 C; none was measured on a collar.
        gnss_search          12.2   mA       u-blox SAM-M10Q data sheet UBX-22013293 R03: search, GPS and Galileo, 10 and 2.2 mA (V_IO)
        gnss_tracking        10.2   mA       the same: tracking at full power, 8 mA and 2.2 mA
        gnss_cyclic          7      mA       the same: cyclic tracking at 1 Hz, 5 mA and 2 mA
        gnss_backup          0.032  mA       the same: hardware backup
        radio_send           45     mA       Semtech SX1261/2 data sheet DS_SX1261-2 rev 2.1: 868 MHz, +14 dBm, amplifier set for +14 dBm
        radio_receive        5.3    mA       the same: receiving LoRa at 125 kHz, boosted gain, DC-DC converter
        processor_with_gnss  1      mA       assumed: mean of a processor that reads the bytes of the receiver
        processor_awake      3.3    mA       Nordic nRF52840 product specification: running from flash, DC-DC converter
        sleep                0.016  mA       assumed: processor and radio 4.4 uA (RAK4630 data sheet), accelerometer 3 uA, supply
        cell_usable          80     %        assumed: what the cell gives before its voltage is too low
        cell_self_discharge  5      %/month  assumed for a lithium polymer cell; makers and measurements say 5 to 9

        """

    /// The table of ``defaultText``.
    package static let `default`: CurrentTable = {
        do throws(LineFault) { return try CurrentTable(defaultText) } catch { preconditionFailure("the default table is whole: \(error)") }
    }()
}
