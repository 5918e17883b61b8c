// Decoding with protobuf's C++ library what benchmarks' "decode" decodes: the same walk, each message behind its length
// and before a CRC-16 (CCITT, one table step a byte), as serial links frame them.
//
//     decode ROUNDS    prints: nanoseconds an element (least, median), elements a round, bytes an element
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "fix.pb.h"

static uint16_t table[256];

static void make_table() {
    for (int byte = 0; byte < 256; byte++) {
        uint16_t value = byte << 8;
        for (int bit = 0; bit < 8; bit++) value = value & 0x8000 ? value << 1 ^ 0x1021 : value << 1;
        table[byte] = value;
    }
}

static uint16_t crc16(const uint8_t *bytes, size_t count) {
    uint16_t value = 0xFFFF;
    for (size_t index = 0; index < count; index++) value = value << 8 ^ table[value >> 8 ^ bytes[index]];
    return value;
}

static double now() {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

int main(int count, char **arguments) {
    int rounds = count == 2 ? atoi(arguments[1]) : 0;
    if (rounds < 1) return 64;
    make_table();
    const int elements = 4096;
    uint64_t random = 1;
    auto below = [&](int bound) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        return (int)((random >> 33) % bound);
    };
    std::string stream;
    int latitude = 4737690, longitude = 854170;
    for (int sequence = 0; sequence < elements; sequence++) {
        latitude += below(5) - 2;
        longitude += below(7) - 3;
        Fix fix;
        fix.set_sequence(sequence);
        fix.set_unix_seconds(1700000000 + sequence);
        fix.set_latitude_e5(latitude);
        fix.set_longitude_e5(longitude);
        fix.set_altitude_m(408 + below(3));
        fix.set_horizontal_accuracy(45 + below(3));
        fix.set_vertical_accuracy(50 + below(3));
        fix.set_speed_dm_s(12 + below(5));
        fix.set_course(40 + below(4));
        fix.set_heading(60 + below(4));
        fix.set_battery_percent(85);
        fix.set_source(2);
        std::string body = fix.SerializeAsString();
        uint16_t check = crc16((const uint8_t *)body.data(), body.size());
        stream += (char)body.size();
        stream += body;
        stream += (char)(check >> 8);
        stream += (char)check;
    }
    std::vector<double> times;
    uint64_t checksum = 0;
    for (int round = 0; round < rounds; round++) {
        double start = now();
        Fix fix;
        const uint8_t *bytes = (const uint8_t *)stream.data();
        for (size_t at = 0; at < stream.size();) {
            size_t length = bytes[at];
            uint16_t check = bytes[at + 1 + length] << 8 | bytes[at + 2 + length];
            if (crc16(bytes + at + 1, length) == check && fix.ParseFromArray(bytes + at + 1, length))
                checksum += fix.sequence() + fix.latitude_e5();
            at += length + 3;
        }
        times.push_back((now() - start) / elements);
    }
    std::sort(times.begin(), times.end());
    printf("%f %f %d %f %llu\n", times[0], times[times.size() / 2], elements, (double)stream.size() / elements,
           (unsigned long long)checksum);
}
