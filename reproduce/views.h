/* views.h - pictures of a world as figures of a study. */
#ifndef CAIRN_REPRODUCE_VIEWS_H
#define CAIRN_REPRODUCE_VIEWS_H

#include "reproduce/study.h"

/* Balls from number `first` on as the plane y = `plane` cuts them, in x and z; 2D: all of them, in
 * x and y. Axes and legend of the figure are set. */
void cairn_view_balls(cairn_study *study, const cairn_world *world, const cairn_figure *figure,
                      int first, double plane);

#endif
