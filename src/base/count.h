/* count.h - how many items an array has. */
#ifndef CAIRN_BASE_COUNT_H
#define CAIRN_BASE_COUNT_H

#define CAIRN_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

#endif
