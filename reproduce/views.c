/* views.c - see views.h. */
#include "reproduce/views.h"

#include <math.h>

void cairn_view_balls(cairn_study *study, const cairn_world *world, const cairn_figure *figure,
                      int first, double plane)
{
    cairn_bodies b = cairn_world_bodies(world);
    bool flat = cairn_world_dimension(world) == 2;
    cairn_figure f = *figure;
    f.x_label = "x (m)";
    f.y_label = flat ? "y (m)" : "z (m)";
    f.equal = f.bare = true;
    cairn_study_figure(study, &f);
    int series = cairn_study_series(study, CAIRN_SERIES_DISKS, "balls");
    for (int i = first; i < b.count; i++) {
        double r = cairn_bodies_shape(&b, i)->radius, away = flat ? 0 : fabs(b.x[i].y - plane);
        if (away < r)
            cairn_study_point(study, series, b.x[i].x, flat ? b.x[i].y : b.x[i].z,
                              sqrt(r * r - away * away));
    }
}
