#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/serial.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

static int result(int returned) { return returned < 0 ? -errno : returned; }

int terminal_is_terminal(int descriptor) {
    // isatty does not distinguish a hang-up from a file.
    struct termios settings;
    if (tcgetattr(descriptor, &settings) == 0) return 1;
    return errno == ENOTTY || errno == EINVAL ? 0 : -errno;
}

static speed_t speed_of(uint32_t bits_per_second) {
    switch (bits_per_second) {
    case 4800: return B4800;
    case 9600: return B9600;
    case 19200: return B19200;
    case 38400: return B38400;
    case 57600: return B57600;
    case 230400: return B230400;
    case 460800: return B460800;
    case 921600: return B921600;
    default: return B115200;
    }
}

int terminal_set_raw(int descriptor, uint32_t bits_per_second) {
    struct termios settings;
    if (tcgetattr(descriptor, &settings) < 0) return -errno;
    cfmakeraw(&settings);
    settings.c_iflag &= ~(tcflag_t)(IXOFF | IXANY | INPCK | IGNPAR | IMAXBEL);
    settings.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS | HUPCL);
    settings.c_cflag |= CREAD | CLOCAL;
    // With VMIN 0 a read of an empty terminal would return zero bytes, which here means that it was unplugged.
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    cfsetspeed(&settings, speed_of(bits_per_second));
    return result(tcsetattr(descriptor, TCSANOW, &settings));
}

int terminal_set_low_latency(int descriptor) {
    struct serial_struct line;
    if (ioctl(descriptor, TIOCGSERIAL, &line) < 0) return -errno;
    line.flags |= ASYNC_LOW_LATENCY;
    return result(ioctl(descriptor, TIOCSSERIAL, &line));
}

int terminal_set_exclusive(int descriptor, int exclusive) {
    return result(ioctl(descriptor, exclusive ? TIOCEXCL : TIOCNXCL));
}

int terminal_is_exclusive(int descriptor) {
    int exclusive = 0;
    if (ioctl(descriptor, TIOCGEXCL, &exclusive) < 0) return -errno;
    return exclusive != 0;
}

int terminal_assert_modem_lines(int descriptor) {
    int lines = TIOCM_DTR | TIOCM_RTS;
    return result(ioctl(descriptor, TIOCMBIS, &lines));
}

int terminal_is_pseudo_terminal(int descriptor) {
    // TIOCGDEV gives the terminal that an alias such as /dev/tty leads to; the node's own number would mislead.
    unsigned int device = 0;
    unsigned int major_number;
    if (ioctl(descriptor, TIOCGDEV, &device) == 0) {
        // The kernel's 32-bit encoding, from the lowest bit: 8 bits of the minor, 12 bits of the major, the rest of the
        // minor.
        major_number = (device >> 8) & 0xfff;
    } else {
        struct stat status;
        if (fstat(descriptor, &status) < 0) return -errno;
        major_number = major(status.st_rdev);
    }
    return major_number >= 128 && major_number <= 143;
}

int terminal_open_pseudo_terminal(void) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (master < 0) return -errno;
    if (grantpt(master) < 0 || unlockpt(master) < 0) {
        int failure = -errno;
        close(master);
        return failure;
    }
    return master;
}

int terminal_slave_path(int master, char *path, size_t capacity) { return -ptsname_r(master, path, capacity); }

int terminal_size(int descriptor, unsigned short *columns, unsigned short *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -errno;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}
