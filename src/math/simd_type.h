/* simd_type.h - one type of wide register; the text of its functions. Included by simd.h with REAL,
 * WIDE (the register), TARGET, MASK, LANES, ROOT, WIDE_(name), HALF_(name) of the type half as
 * wide, JOIN and UPPER of halves, and the index lists of the transposition. */

/* The same numbers anywhere in memory. */
typedef WIDE WIDE_(loose) __attribute__((aligned(sizeof(REAL)), may_alias));

CAIRN_WIDE WIDE WIDE_(load)(const REAL *from)
{
    return *(const WIDE_(loose) *)from;
}

CAIRN_WIDE void WIDE_(store)(REAL *to, WIDE x)
{
    *(WIDE_(loose) *)to = x;
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

/* max(x, 0): the sign, spread over the number, blots it out. */
CAIRN_WIDE WIDE WIDE_(positive)(WIDE x)
{
    return (WIDE)((MASK)x & ~((MASK)x >> (8 * sizeof(REAL) - 1)));
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
CAIRN_WIDE WIDE WIDE_(row)(const REAL *records, const int32_t *index, int size, int k)
{
    return JOIN(HALF_(row)(records, index, size, k),
                HALF_(row)(records, index + LANES / 2, size, k));
}

CAIRN_WIDE void WIDE_(put_row)(REAL *records, const int32_t *index, int size, int k, WIDE x)
{
    if (size == LANES) {
        WIDE_(store)(records + (size_t)index[k] * LANES, x);
        return;
    }
    HALF_(put_row)(records, index, size, k, __builtin_shufflevector(x, x, LOWER));
    HALF_(put_row)(records, index + LANES / 2, size, k, UPPER(x));
}
#else
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

CAIRN_WIDE void WIDE_(squares)(WIDE *x, int size)
{
    for (int k = 0; k < size; k += LANES < 4 ? LANES : 4)
        WIDE_(square)(x + k);
}

#if LANES == 16
/* 16 records of 8 numbers are loaded whole, two to a register; their pieces are sorted last. */
CAIRN_WIDE void WIDE_(gather_pairs)(const REAL *records, const int32_t *index, WIDE *x)
{
    for (int k = 0; k < 8; k++) {
        const int32_t *at = index + k % 4 + k / 4 * 8;
        x[k] = JOIN(HALF_(load)(records + (size_t)at[0] * 8),
                    HALF_(load)(records + (size_t)at[4] * 8));
    }
    WIDE_(squares)(x, 8);
    for (int k = 0; k < 4; k++) {
        WIDE kept = __builtin_shufflevector(x[k], x[k + 4], EVEN);
        x[k + 4] = __builtin_shufflevector(x[k], x[k + 4], ODD);
        x[k] = kept;
    }
}
#endif

/* Component k of LANES records of `size` numbers, 4 or 8; the records at `index`. */
CAIRN_WIDE void WIDE_(gather)(const REAL *records, const int32_t *index, int size, WIDE *x)
{
#if LANES == 16
    if (size == 8) {
        WIDE_(gather_pairs)(records, index, x);
        return;
    }
#endif
    for (int k = 0; k < size; k++)
        x[k] = WIDE_(row)(records, index, size, k);
    WIDE_(squares)(x, size);
}

/* The other way; x is used up. In wide registers the two pieces of a record of 8 numbers come
 * together before it is stored. */
CAIRN_WIDE void WIDE_(scatter)(REAL *records, const int32_t *index, int size, WIDE *x)
{
    WIDE_(squares)(x, size);
#if LANES >= 8
    for (int k = 0; k < 4 && size == 8; k++) {
        WIDE kept = LEFT(x[k], x[k + 4]);
        x[k + 4] = RIGHT(x[k], x[k + 4]);
        x[k] = kept;
    }
#endif
    for (int k = 0; k < size; k++)
        WIDE_(put_row)(records, index, size, k, x[k]);
}

#undef WIDE
#undef TARGET
#undef HALF_
#undef EVEN
#undef ODD
#undef MASK
#undef LANES
#undef WIDE_
#undef LOW
#undef HIGH
#undef FIRST
#undef SECOND
#undef LEFT
#undef RIGHT
#undef JOIN
#undef LOWER
#undef UPPER
