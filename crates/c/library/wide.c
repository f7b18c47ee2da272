/* Integers of 128 bits, where they need more than a few operations on their halves. The results are left in memory, low half first. */

/* Quotient and remainder, one bit after the other; rounded towards zero. */
void __raddle_wide_divide(unsigned long long a_low, unsigned long long a_high, unsigned long long b_low, unsigned long long b_high, int with_sign,
                          unsigned long long *result) {
    if (!(a_high | b_high)) {
        result[0] = a_low / b_low;
        result[1] = 0;
        result[2] = a_low % b_low;
        result[3] = 0;
        return;
    }
    unsigned __int128 a = (unsigned __int128)a_high << 64 | a_low, b = (unsigned __int128)b_high << 64 | b_low;
    if (b == 0)
        result[0] = a_low / b_low;
    int a_below = with_sign && a_high >> 63, b_below = with_sign && b_high >> 63;
    if (a_below)
        a = -a;
    if (b_below)
        b = -b;
    unsigned __int128 quotient = 0, rest = 0;
    for (int bit = 127; bit >= 0; bit--) {
        int carry = rest >> 127 != 0;
        rest = rest << 1 | (a >> bit & 1);
        if (carry || rest >= b) {
            rest -= b;
            quotient |= (unsigned __int128)1 << bit;
        }
    }
    if (a_below != b_below)
        quotient = -quotient;
    if (a_below)
        rest = -rest;
    result[0] = quotient;
    result[1] = quotient >> 64;
    result[2] = rest;
    result[3] = rest >> 64;
}

/* Whether a product does not fit: of numbers without a sign, or of those that have one and are less than 2^127 with it. */
int __raddle_wide_product_lost(unsigned long long a_low, unsigned long long a_high, unsigned long long b_low, unsigned long long b_high,
                               int with_sign) {
    unsigned __int128 a = (unsigned __int128)a_high << 64 | a_low, b = (unsigned __int128)b_high << 64 | b_low;
    int a_below = with_sign && a_high >> 63, b_below = with_sign && b_high >> 63;
    if (a_below)
        a = -a;
    if (b_below)
        b = -b;
    unsigned __int128 a_top = a >> 64, b_top = b >> 64, a_rest = (unsigned long long)a, b_rest = (unsigned long long)b;
    if (a_top != 0 && b_top != 0)
        return 1;
    unsigned __int128 across = a_top * b_rest + b_top * a_rest, low = a_rest * b_rest;
    if (across >> 64 != 0)
        return 1;
    unsigned __int128 sum = (across << 64) + low;
    if (sum < low)
        return 1;
    if (!with_sign)
        return 0;
    unsigned __int128 most = (unsigned __int128)1 << 127;
    return a_below != b_below ? sum > most : sum >= most;
}

/* The 64 bits that matter of a number, the last of which stands for those that are left out, and by how much they are shifted. */
unsigned long long __raddle_wide_top(unsigned long long low, unsigned long long high, int *shift) {
    *shift = 0;
    if (high == 0)
        return low;
    int by = 0;
    while (high >> by != 0 && by < 63)
        by++;
    if (by == 63 && high >> 63)
        by = 64;
    *shift = by;
    if (by == 64)
        return high | (low != 0);
    unsigned long long top = high << (64 - by) | low >> by;
    return top | (low << (64 - by) != 0);
}

double __raddle_wide_to_double(unsigned long long low, unsigned long long high) {
    int shift;
    double number = __raddle_wide_top(low, high, &shift);
    for (; shift > 0; shift--)
        number *= 2;
    return number;
}

float __raddle_wide_to_float(unsigned long long low, unsigned long long high) {
    int shift;
    float number = __raddle_wide_top(low, high, &shift);
    for (; shift > 0; shift--)
        number *= 2;
    return number;
}

/* The whole part of a number from 0 to 2^128. */
void __raddle_wide_from_double(double number, unsigned long long *result) {
    unsigned long long high = number / 18446744073709551616.0;
    result[1] = high;
    result[0] = number - high * 18446744073709551616.0;
}
