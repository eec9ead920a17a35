/* members.h - members of one computation as threads that send each other messages through memory:
 * the rehearsal of processes on several machines. A member sees nothing of another but messages. */
#ifndef CAIRN_TESTS_MEMBERS_H
#define CAIRN_TESTS_MEMBERS_H

#include <pthread.h>
#include <stdlib.h>

#include "base/link.h"
#include "tests/check.h"

enum { MOST_MEMBERS = 16 };

typedef struct message {
    struct message *next;
    size_t count;
    unsigned char bytes[];
} message;

/* Messages from one member to another, oldest first. */
typedef struct mailbox {
    message *first, *last;
} mailbox;

typedef struct post_office {
    pthread_mutex_t lock;
    pthread_cond_t news[MOST_MEMBERS];       /* for each                     */
    mailbox box[MOST_MEMBERS][MOST_MEMBERS]; /* from, to                     */
    bool left[MOST_MEMBERS];                 /* gave up                      */
    size_t sent, bytes;                      /* messages in all              */
} post_office;

typedef struct member {
    post_office *office;
    cairn_link link;
    message *read; /* the last one that was received */
} member;

static cairn_status post_send(void *context, int to, const void *bytes, size_t count)
{
    member *m = context;
    message *note = malloc(sizeof *note + count);
    if (!note)
        return CAIRN_NO_MEMORY;
    *note = (message){ .count = count };
    if (count > 0)
        memcpy(note->bytes, bytes, count);
    pthread_mutex_lock(&m->office->lock);
    mailbox *box = &m->office->box[m->link.member][to];
    *(box->first ? &box->last->next : &box->first) = note;
    box->last = note;
    m->office->sent++;
    m->office->bytes += count;
    pthread_cond_signal(&m->office->news[to]);
    pthread_mutex_unlock(&m->office->lock);
    return CAIRN_OK;
}

static cairn_status post_receive(void *context, int from, const void **bytes, size_t *count)
{
    member *m = context;
    free(m->read);
    m->read = NULL;
    pthread_mutex_lock(&m->office->lock);
    mailbox *box = &m->office->box[from][m->link.member];
    while (!box->first && !m->office->left[from])
        pthread_cond_wait(&m->office->news[m->link.member], &m->office->lock);
    m->read = box->first;
    if (m->read)
        box->first = m->read->next;
    pthread_mutex_unlock(&m->office->lock);
    if (!m->read)
        return CAIRN_IO_FAILED;
    *bytes = m->read->bytes;
    *count = m->read->count;
    return CAIRN_OK;
}

static bool post_arrived(void *context, int from)
{
    const member *m = context;
    pthread_mutex_lock(&m->office->lock);
    bool here = m->office->box[from][m->link.member].first || m->office->left[from];
    pthread_mutex_unlock(&m->office->lock);
    return here;
}

static void post_leave(void *context)
{
    member *m = context;
    pthread_mutex_lock(&m->office->lock);
    m->office->left[m->link.member] = true;
    for (int k = 0; k < MOST_MEMBERS; k++)
        pthread_cond_signal(&m->office->news[k]);
    pthread_mutex_unlock(&m->office->lock);
}

static void open_office(post_office *office)
{
    memset(office, 0, sizeof *office);
    pthread_mutex_init(&office->lock, NULL);
    for (int k = 0; k < MOST_MEMBERS; k++)
        pthread_cond_init(&office->news[k], NULL);
}

static void close_office(post_office *office)
{
    for (int i = 0; i < MOST_MEMBERS * MOST_MEMBERS; i++) {
        mailbox *box = &office->box[i / MOST_MEMBERS][i % MOST_MEMBERS];
        while (box->first) {
            message *next = box->first->next;
            free(box->first);
            box->first = next;
        }
    }
    for (int k = 0; k < MOST_MEMBERS; k++)
        pthread_cond_destroy(&office->news[k]);
    pthread_mutex_destroy(&office->lock);
}

/* A member stays where it is: its link points to it. */
static void join_office(post_office *office, int number, int members, member *m)
{
    *m = (member){ .office = office,
                   .link = { .member = number,
                             .members = members,
                             .send = post_send,
                             .receive = post_receive,
                             .arrived = post_arrived,
                             .leave = post_leave,
                             .context = m } };
}

/* Each calls `work` with its own job, in a thread of its own; jobs are `size` bytes apart. */
static void run_together(int members, void *(*work)(void *), void *jobs, size_t size)
{
    pthread_t thread[MOST_MEMBERS];
    for (int k = 0; k < members; k++)
        CHECK(pthread_create(&thread[k], NULL, work, (char *)jobs + (size_t)k * size) == 0);
    for (int k = 0; k < members; k++)
        pthread_join(thread[k], NULL);
}

#endif
