/* page.h - the page of the viewer, as `make viewer` built it; made by embed.cmake. */
#ifndef CAIRN_VIEW_PAGE_H
#define CAIRN_VIEW_PAGE_H

#include <stddef.h>

/* HTML, packed by gzip. */
extern const unsigned char cairn_view_page[];
/* 0: the program was built without it. */
extern const size_t cairn_view_page_bytes;

#endif
