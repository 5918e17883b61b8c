#ifndef CUSTOM_RATE_H
#define CUSTOM_RATE_H

/// Sets a rate that has no code among the standard ones. 0, or the negated errno.
int ctermios_set_custom_rate(int descriptor, unsigned int bits_per_second);

#endif
