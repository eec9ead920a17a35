/* test_joint_tension.c - long steps under high tension: scenes/chain.yaml, 100 links of 0.1 m and
 * 1 kg below which 1000 kg hang. Taken explicitly, tension would allow steps of 2 ms at most:
 * h^2 T l < 4 J with T = 10 kN, J = 6.4e-4 kg m^2. The scene steps by 10 ms. */
#include "cairn/cairn.h"
#include "check.h"

static cairn_scene *load(const char *override)
{
    cairn_scene *scene;
    cairn_error error;
    const char *path = CAIRN_SOURCE_DIR "/scenes/chain.yaml";
    if (cairn_scene_load(path, &override, override ? 1 : 0, &scene, &error) != CAIRN_OK)
        fail_msg("%d: %s: %s", error.line, error.key, error.message);
    return scene;
}

static double energy_of(const cairn_scene *scene)
{
    double kinetic, potential;
    cairn_world_energy(scene->world, &kinetic, &potential);
    return kinetic + potential;
}

/* 1e-8 of a link is 1e-9 m; a minute of it ends with 7e-13 m, measured by cairn run. */
TEST(a_hanging_chain_neither_drifts_nor_gains_energy)
{
    cairn_scene *scene = load(NULL);
    double start = energy_of(scene);
    for (int k = 0; k < 200; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK(report.solve.converged);
        CHECK(report.certificate.joint_drift < 1e-11);
        CHECK(energy_of(scene) <= start + 1e-12 * fabs(start));
    }
    CHECK_NEAR(cairn_world_joint(scene->world, 0).force.z, 1100 * 9.81, 1e-3);
    cairn_scene_destroy(scene);
}

/* The weight starts with 1 m/s, 500 J, and jerks the links along. The ledger says where each joule
 * goes, none comes from nowhere, and the joints close again after the jerk. */
TEST(a_swinging_chain_keeps_its_ledger)
{
    cairn_scene *scene = load("bodies.100.velocity=[1, 0, 0]");
    double before = energy_of(scene), start = before, drift = 0;
    for (int k = 0; k < 50; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK(report.solve.converged);
        const cairn_energy *e = &report.energy;
        double now = e->kinetic + e->potential;
        CHECK_NEAR(now - before, -e->impact_loss - e->numerical_loss, 1e-13 * fabs(start));
        CHECK(now <= start);
        before = now;
        drift = report.certificate.joint_drift;
    }
    CHECK(drift < 1e-4);
    CHECK(start - before < 50); /* of 500 J */
    cairn_scene_destroy(scene);
}

int main(void)
{
    RUN(CASE(a_hanging_chain_neither_drifts_nor_gains_energy),
        CASE(a_swinging_chain_keeps_its_ledger));
}
