/* papers.h - the entries of each paper; entries.c puts them in order. */
#ifndef CAIRN_REPRODUCE_PAPERS_H
#define CAIRN_REPRODUCE_PAPERS_H

#include "reproduce/study.h"

extern const cairn_entry cairn_entries_a06[], cairn_entries_st96[], cairn_entries_bl23[],
    cairn_entries_bl23_box[], cairn_entries_bl23_grains[], cairn_entries_a05[], cairn_entries_c09[],
    cairn_entries_shaken[], cairn_entries_pebble_bed[];
extern const int cairn_entries_a06_count, cairn_entries_st96_count, cairn_entries_bl23_count,
    cairn_entries_bl23_box_count, cairn_entries_bl23_grains_count, cairn_entries_a05_count,
    cairn_entries_c09_count, cairn_entries_shaken_count, cairn_entries_pebble_bed_count;

#endif
