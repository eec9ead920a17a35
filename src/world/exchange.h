/* exchange.h - a world in parts, and members that compute one world together.
 *
 * The dynamic bodies are cut into parts: ranges of their order in the whole world, with about the
 * same amount of work each. Results depend on the parts, never on the members that compute them. A
 * member has some of the parts, and of the bodies of other members those that can meet its own
 * bodies in this step: its ghosts. Its rows are
 *
 *     held | ghosts of lower parts | own | ghosts of higher parts
 *
 * in the order of the whole world, so its contacts also have the order that they have there. The
 * owner of a body computes what happens to it. A member computes the contacts of ghosts with its
 * own bodies a second time, with the same numbers; before each step ghosts are copied anew from
 * their owners. A world without a link is whole: the calls below then do nothing, or answer for all
 * rows. */
#ifndef CAIRN_WORLD_EXCHANGE_H
#define CAIRN_WORLD_EXCHANGE_H

#include "base/link.h"
#include "base/parallel.h"
#include "cairn/world.h"

/* The border with one other member: own rows that are ghosts there, and rows of its bodies that are
 * ghosts here. */
typedef struct cairn_neighbour {
    int outs;        /* number of own rows that are ghosts there            */
    int32_t *out;    /* these rows, ascending, in the order of the messages */
    int in, in_end;  /* rows [in, in_end) here are ghosts of that member    */
    size_t capacity; /* of `out`                                            */
} cairn_neighbour;

/* How long members take, by which their parts are divided anew at times. Results do not depend on
 * it. */
typedef struct cairn_pace {
    double (*clock)(void); /* seconds */
    bool begun;            /* there was an arrangement                             */
    double at, apart;      /* s: end of the last arrangement; time in messages until then */
    double busy;           /* s: computing since the parts were last divided, or looked at */
    int steps;             /* in that time                                                 */
    cairn_balance balance;
    int *bound; /* the first part of each member, and the end; NULL: even numbers */
} cairn_pace;

/* Bodies of consecutive uids in consecutive rows. */
typedef struct cairn_stretch {
    uint64_t uid; /* of the first one */
    int64_t count;
} cairn_stretch;

/* A world that all members make alike, body by body, while each of them keeps a share of the
 * dynamic bodies (cairn_world_share). It ends when the world is joined. */
typedef struct cairn_making {
    int64_t begin, end;  /* the share: dynamic bodies, counted as they are created       */
    int64_t count;       /* dynamic bodies so far                                        */
    int64_t common;      /* the first ones, which all members keep: they were there before */
    cairn_stretch *line; /* dynamic bodies in the order of their rows in the whole world */
    size_t first, last;  /* stretches [first, last) of `line` are in use                 */
    size_t capacity;
} cairn_making;

/* For what an own body was made a ghost of other members, or not: it was at x, m, and could reach
 * this far, m. */
typedef struct cairn_grant {
    cairn_vec3 x;
    double reach;
} cairn_grant;

/* The part of a world that belongs to its cut into parts and to its members. */
typedef struct cairn_exchange {
    cairn_link *link;           /* NULL: the world is whole                                 */
    cairn_making *making;       /* NULL: it is not being made in shares                     */
    cairn_neighbour *neighbour; /* one for each member                                      */
    int own, own_end;           /* rows [own, own_end) of own bodies, if there is a link    */
    int64_t *order;             /* of each row: the row that it has in the whole world      */
    size_t capacity;            /* of `order`                                               */
    int64_t all;                /* rows of the whole world, if there is a link              */
    bool disordered;            /* rows are no longer sorted by `order`                     */
    double generosity;          /* factor >= 1 on the distance in which ghosts are searched */
    bool again;                 /* that distance was too short: the step begins again       */
    bool long_here;             /* a body of this member moves too far in the step ...      */
    bool too_long;              /* ... or one of another member: it begins again, shorter   */
    int64_t stays;              /* steps before which no body moved to another member       */
    bool arranged;              /* no body came, left or was sorted since the last arrangement */
    cairn_grant *grant;         /* of each row, in that arrangement                         */
    size_t grants;              /* capacity of `grant`                                      */
    cairn_pace pace;
    bool gathered; /* the inputs of the last step came from members            */
    /* the following belong to one step and are in its scratch */
    int parts;           /* 0: the world is not cut                                     */
    uint16_t *part;      /* of each dynamic body; NULL: not cut                         */
    double *margin;      /* m, of own rows: the reach for which there are ghosts        */
    cairn_parted bodies; /* all rows by parts, for reductions                           */
} cairn_exchange;

void cairn_exchange_release(cairn_exchange *exchange);
/* Refuse, with a message, what members cannot compute together yet. */
cairn_status cairn_exchange_check(const cairn_world *world, const cairn_step_options *options,
                                  cairn_error *error);

/* parts.c: the parts of the own dynamic bodies [begin, end), which are in order. *same: they begin
 * where they did in the last step, since all have about the same amount of work. Otherwise they are
 * cut anew. Bodies that joints connect, and all bodies between them, are in the part of the first
 * of them. */
cairn_status cairn_parts_choose(cairn_world *world, int begin, int end, bool *same);
/* The parts of dynamic bodies [begin, end), in order, by where parts begin. */
void cairn_parts_name(const cairn_world *world, int begin, int end, uint16_t *part);
/* Before bodies are sorted by their places on a curve: give bodies that joints connect the same
 * place, so that few bodies come between them. `place` begins with the own body in row `first`. */
cairn_status cairn_parts_gather(cairn_world *world, int first, uint64_t *place);

/* Drop contacts without an own body: the members that own their bodies have them. `holder` has the
 * member of each dynamic body. */
void cairn_exchange_keep_contacts(cairn_world *world, const int32_t *holder);

/* migrate.c: move bodies to the members that have them from now on, and fetch ghosts. The new owner
 * follows from the place of each own body on a curve, along which the bodies are then sorted; or,
 * if `place` is NULL, from its part. */
cairn_status cairn_exchange_move(cairn_world *world, const cairn_step_options *options, int parts,
                                 const uint64_t *place);

/* state.c: what a saved world has before the columns of bodies, between these and the columns of
 * contacts, and behind them; for so many bodies and contacts in all. */
struct cairn_writer;
void cairn_state_write_first(struct cairn_writer *w, const cairn_world *world, int64_t rows);
void cairn_state_write_middle(struct cairn_writer *w, const cairn_world *world, int64_t contacts);
void cairn_state_write_last(struct cairn_writer *w, const cairn_world *world);
/* cairn_world_load for a part of a world (`share` and `survey` of `part`); notes in `part` where
 * columns are. */
cairn_status cairn_state_load(const void *data, size_t bytes, cairn_saved *part, cairn_world **out,
                              cairn_error *error);
/* shares.c: the first `rows` of `all` rows of saved columns. */
typedef struct cairn_columns_saved {
    const struct cairn_column_list *list;
    void *store;
    int rows, all;
} cairn_columns_saved;
struct cairn_reader;
void cairn_columns_read(struct cairn_reader *r, const cairn_world *world,
                        const cairn_columns_saved *part);

/* Cut the world for a step: bodies move, with their contacts, to the member that has their part,
 * and ghosts are fetched. Rows stay sorted. */
cairn_status cairn_exchange_arrange(cairn_world *world, const cairn_step_options *options);

/* The same if no body changes its member, and the ghosts of the last step are still those that can
 * meet an own body; *done: whether that is so, for all members. */
cairn_status cairn_exchange_stay(cairn_world *world, const cairn_step_options *options, bool *done);

/* Sort the bodies of all members by their places on a curve; `place` has those of the own bodies.
 * Each member then has about the same number of bodies. */
cairn_status cairn_exchange_sort(cairn_world *world, const cairn_step_options *options,
                                 const uint64_t *place);

/* Bodies that come and go while members compute the world. All members do the same, in the same
 * order. A new dynamic body has the last row of the whole world, and so belongs to the last
 * member. */
static inline bool cairn_exchange_appends(const cairn_exchange *x)
{
    const cairn_making *m = x->making;
    if (m)
        return m->count >= m->begin && m->count < m->end;
    return !x->link || x->link->member == x->link->members - 1;
}
/* Reserve memory for so many rows. */
cairn_status cairn_exchange_reserve(cairn_exchange *exchange, size_t rows);
/* Note that a body was added; this member has it in `row`, or -1. */
void cairn_exchange_added(cairn_world *world, int row, bool held);
/* The world has become whole, or is joined: its making ends. */
void cairn_making_release(cairn_exchange *exchange);
/* cairn_world_join for a world that was made in shares. */
cairn_status cairn_making_join(cairn_world *world, cairn_link *link);
/* The row in the whole world, and the shape, of a dynamic body that some member has; false: no
 * member has it. */
bool cairn_exchange_find(const cairn_world *world, uint64_t uid, int64_t *order, int32_t *shape);
/* Note that a body was removed that had this row in the whole world, and here `row`, or -1. Its
 * place is taken by the last body. */
void cairn_exchange_removed(cairn_world *world, int64_t order, int row);
/* Before a step: sort the rows of all members by `order` if they are not sorted any more. */
cairn_status cairn_exchange_restore(cairn_world *world, const cairn_step_options *options);

/* Copy the rows of ghosts in an array of rows of `size` bytes from their owners. All members must
 * call it together. */
void cairn_exchange_fetch(const cairn_world *world, void *x, size_t size);
/* Whether ghosts were searched as far as own bodies reach, m. If not, it fails and sets `again`, in
 * all members. */
cairn_status cairn_exchange_cover(cairn_world *world, const double *reach);
/* gather.c: complete the report of a step with what only one member knows: bodies that it names,
 * and contacts by their number in the whole world. `components`: rows of a contact. */
cairn_status cairn_exchange_report(cairn_world *world, int components, cairn_step_report *report);
/* Agree on the outcome so far: if one member fails it leaves, and then all fail. */
cairn_status cairn_exchange_agree(cairn_world *world, cairn_status status);
/* The same where a try at a step ends. A member in which a body moves too far (long_here) has not
 * failed: all learn of it (too_long), and get CAIRN_BAD_INPUT. */
cairn_status cairn_exchange_agree_length(cairn_world *world, cairn_status status);

#endif
