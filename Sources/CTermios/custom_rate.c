#include "custom_rate.h"

// This header has termios2; it may not be mixed with <termios.h>, which declares the same names differently.
#include <asm/termbits.h>
#include <errno.h>
#include <sys/ioctl.h>

int ctermios_set_custom_rate(int descriptor, unsigned int bits_per_second) {
    struct termios2 settings;
    if (ioctl(descriptor, TCGETS2, &settings) < 0) return -errno;
    // CIBAUD left at zero makes the input rate follow the output rate.
    settings.c_cflag &= ~(tcflag_t)(CBAUD | CIBAUD);
    settings.c_cflag |= BOTHER;
    settings.c_ispeed = bits_per_second;
    settings.c_ospeed = bits_per_second;
    return ioctl(descriptor, TCSETS2, &settings) < 0 ? -errno : 0;
}
