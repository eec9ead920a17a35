/* batch_widths_f32.h - a pass in float for registers of three widths: includes TEXT for each, with
 * WIDE, MASK, LANES, NAME(name) and WIDE_(name) set, which TEXT undefines. No guard: it is meant to
 * be included once for each TEXT. */

#define WIDE cairn_f32x4
#define TARGET
#define MASK       cairn_i32x4
#define LANES      4
#define NAME(name) f32x4_##name
#define WIDE_(fn)  cairn_f32x4_##fn
#include TEXT

#define WIDE       cairn_f32x8
#define TARGET     CAIRN_AVX2
#define MASK       cairn_i32x8
#define LANES      8
#define NAME(name) f32x8_##name
#define WIDE_(fn)  cairn_f32x8_##fn
#include TEXT

#define WIDE       cairn_f32x16
#define TARGET     CAIRN_AVX512
#define MASK       cairn_i32x16
#define LANES      16
#define NAME(name) f32x16_##name
#define WIDE_(fn)  cairn_f32x16_##fn
#include TEXT
