/* measure.c - the quality of runs as CSV:  measure SCENE FRAMES... */
#include "peer.h"

#include <math.h>
#include <string.h>

/* "folder/engine@setting.frames" -> engine, setting */
static void name_of(const char *path, char engine[64], char setting[64])
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    engine[0] = setting[0] = '\0';
    sscanf(base, "%63[^@]@%63s", engine, setting);
    char *end = strstr(setting, ".frames");
    if (end)
        *end = '\0';
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure SCENE FRAMES...\n");
        return 2;
    }
    peer_scene scene = peer_scene_read(argv[1]);
    printf("engine,setting,overlap_max,overlap_mean,overlap_worst,approach,kinetic,energy_rise,"
           "height\n");
    for (int i = 2; i < argc; i++) {
        char engine[64], setting[64];
        name_of(argv[i], engine, setting);
        peer_quality q = peer_quality_of(&scene, argv[i]);
        printf("%s,%s,%.4g,%.4g,%.4g,%.4g,%.4g,%.4g,%.6g\n", engine, setting, q.overlap_max,
               q.overlap_mean, q.overlap_worst, q.approach, q.kinetic, q.energy_rise, q.height);
    }
    peer_scene_destroy(&scene);
    return 0;
}
