/* simd_type.h - one type of wide register; the text of its functions. Included by simd.h with REAL,
 * WIDE (the register), MASK, LANES, ROOT, WIDE_(name), HALF_(name) of the type half as wide, and
 * the index lists of the transposition. */

CAIRN_WIDE WIDE WIDE_(load)(const REAL *from)
{
    WIDE out;
    memcpy(&out, from, sizeof out);
    return out;
}

CAIRN_WIDE void WIDE_(store)(REAL *to, WIDE x)
{
    memcpy(to, &x, sizeof x);
}

CAIRN_WIDE WIDE WIDE_(spread)(REAL x)
{
    return x - (WIDE){ 0 };
}

CAIRN_WIDE WIDE WIDE_(root)(WIDE x)
{
    REAL lanes[LANES];
    memcpy(lanes, &x, sizeof x);
    for (int i = 0; i < LANES; i++)
        lanes[i] = ROOT(lanes[i]);
    return WIDE_(load)(lanes);
}

CAIRN_WIDE WIDE WIDE_(choose)(MASK mask, WIDE yes, WIDE no)
{
    return (WIDE)((mask & (MASK)yes) | (~mask & (MASK)no));
}

/* ---- squares -------------------------------------------------------------------------------- */

#if LANES == 2
/* Transposes a 2 x 2 square; the same again goes back. */
CAIRN_WIDE void WIDE_(square)(WIDE *x)
{
    WIDE first = __builtin_shufflevector(x[0], x[1], 0, 2);
    x[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
    x[0] = first;
}
#else
/* Transposes the 4 x 4 squares that four registers hold side by side. */
CAIRN_WIDE void WIDE_(square)(WIDE *x)
{
    WIDE t[4];
    for (int k = 0; k < 4; k += 2) {
        t[k] = __builtin_shufflevector(x[k], x[k + 1], LOW);
        t[k + 1] = __builtin_shufflevector(x[k], x[k + 1], HIGH);
    }
    x[0] = __builtin_shufflevector(t[0], t[2], FIRST);
    x[SECOND_ROW] = __builtin_shufflevector(t[0], t[2], SECOND);
    x[3 - SECOND_ROW] = __builtin_shufflevector(t[1], t[3], FIRST);
    x[3] = __builtin_shufflevector(t[1], t[3], SECOND);
}
#endif

/* ---- rows: as many records side by side as fit, or a piece of one --------------------------- */

#if LANES >= 8
/* Of records of 8 numbers the squares are swapped as well. */
CAIRN_WIDE void WIDE_(transpose)(WIDE *x, int size)
{
    for (int k = 0; k < size; k += 4)
        WIDE_(square)(x + k);
    for (int k = 0; k < 4 && size == 8; k++) {
        WIDE kept = __builtin_shufflevector(x[k], x[k + 4], LEFT);
        x[k + 4] = __builtin_shufflevector(x[k], x[k + 4], RIGHT);
        x[k] = kept;
    }
}

CAIRN_WIDE WIDE WIDE_(row)(const REAL *records, const int32_t *index, int size, int k)
{
    if (size == LANES)
        return WIDE_(load)(records + (size_t)index[k] * LANES);
    return __builtin_shufflevector(HALF_(row)(records, index, size, k),
                                   HALF_(row)(records, index + LANES / 2, size, k), ALL);
}

CAIRN_WIDE void WIDE_(put_row)(REAL *records, const int32_t *index, int size, int k, WIDE x)
{
    if (size == LANES) {
        WIDE_(store)(records + (size_t)index[k] * LANES, x);
        return;
    }
    HALF_(put_row)(records, index, size, k, __builtin_shufflevector(x, x, LOWER));
    HALF_(put_row)(records, index + LANES / 2, size, k, __builtin_shufflevector(x, x, UPPER));
}
#else
CAIRN_WIDE void WIDE_(transpose)(WIDE *x, int size)
{
    for (int k = 0; k < size; k += LANES)
        WIDE_(square)(x + k);
}

CAIRN_WIDE WIDE WIDE_(row)(const REAL *records, const int32_t *index, int size, int k)
{
    return WIDE_(load)(records + (size_t)index[k % LANES] * (size_t)size + k / LANES * LANES);
}

CAIRN_WIDE void WIDE_(put_row)(REAL *records, const int32_t *index, int size, int k, WIDE x)
{
    WIDE_(store)(records + (size_t)index[k % LANES] * (size_t)size + k / LANES * LANES, x);
}
#endif

/* ---- records -------------------------------------------------------------------------------- */

/* Component k of LANES records of `size` numbers, 4 or 8; the records at `index`. */
CAIRN_WIDE void WIDE_(gather)(const REAL *records, const int32_t *index, int size, WIDE *x)
{
    for (int k = 0; k < size; k++)
        x[k] = WIDE_(row)(records, index, size, k);
    WIDE_(transpose)(x, size);
}

/* The other way; x is used up. */
CAIRN_WIDE void WIDE_(scatter)(REAL *records, const int32_t *index, int size, WIDE *x)
{
    WIDE_(transpose)(x, size);
    for (int k = 0; k < size; k++)
        WIDE_(put_row)(records, index, size, k, x[k]);
}

#undef WIDE
#undef HALF_
#undef MASK
#undef LANES
#undef WIDE_
#undef LOW
#undef HIGH
#undef FIRST
#undef SECOND
#undef LEFT
#undef RIGHT
#undef ALL
#undef LOWER
#undef UPPER
