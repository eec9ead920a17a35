/* batch_widths_f64.h - a pass in double for registers of three widths: includes TEXT for each, with
 * WIDE, MASK, LANES, NAME(name) and WIDE_(name) set, which TEXT undefines. No guard: it is meant to
 * be included once for each TEXT. */

#define WIDE cairn_f64x2
#define TARGET
#define MASK       cairn_i64x2
#define LANES      2
#define NAME(name) f64x2_##name
#define WIDE_(fn)  cairn_f64x2_##fn
#include TEXT

#define WIDE       cairn_f64x4
#define TARGET     CAIRN_AVX2
#define MASK       cairn_i64x4
#define LANES      4
#define NAME(name) f64x4_##name
#define WIDE_(fn)  cairn_f64x4_##fn
#include TEXT

#define WIDE       cairn_f64x8
#define TARGET     CAIRN_AVX512
#define MASK       cairn_i64x8
#define LANES      8
#define NAME(name) f64x8_##name
#define WIDE_(fn)  cairn_f64x8_##fn
#include TEXT
