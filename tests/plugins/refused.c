/* refused.c - shared objects that are no back ends, each of which must be refused with its reason. The build
 * compiles it once for each of them and defines its name: OLD (another version of the interface),
 * MISNAMED (it calls itself otherwise than its file), CARDLESS (it cannot run on any machine, and says
 * why), MUTE (it has no symbol of a back end), HOLLOW (it lacks a function), HALFPILE (it lacks functions
 * of piles). */
#ifdef MUTE

__attribute__((visibility("default"))) extern const int cairn_backend_of_nothing;

const int cairn_backend_of_nothing = 0;

#else

#include "backend/backend.h"

__attribute__((visibility("default"))) cairn_backend_table_function cairn_backend_table;

#ifdef CARDLESS
static const char *reason(void)
{
    return "there is no card";
}
#endif

#ifdef HALFPILE
static cairn_status create(cairn_pile **out)
{
    *out = NULL;
    return CAIRN_UNSUPPORTED;
}
#endif

const cairn_backend *cairn_backend_table(void)
{
#if defined(HOLLOW)
    static cairn_backend table;
    table = cairn_backend_scalar;
    table.name = "hollow";
    table.measure = NULL; /* it need not be there */
    table.project = NULL;
#elif defined(HALFPILE)
    static const cairn_pile_table pile = { .create = create };
    static cairn_backend table;
    table = cairn_backend_scalar;
    table.name = "halfpile";
    table.pile = &pile;
#elif defined(OLD)
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION + 1, .name = "old" };
#elif defined(MISNAMED)
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION, .name = "host" };
#elif defined(CARDLESS)
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION,
                                         .name = "cardless",
                                         .reason = reason };
#endif
    return &table;
}

#endif
