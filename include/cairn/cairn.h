/* cairn.h - the complete public API of cairn. */
#ifndef CAIRN_CAIRN_H
#define CAIRN_CAIRN_H

#include "cairn/backend.h"
#include "cairn/base.h"
#include "cairn/body.h"
#include "cairn/cell.h"
#include "cairn/columns.h"
#include "cairn/fclib.h"
#include "cairn/generate.h"
#include "cairn/global.h"
#include "cairn/joint.h"
#include "cairn/lagrange.h"
#include "cairn/material.h"
#include "cairn/output.h"
#include "cairn/problem.h"
#include "cairn/run.h"
#include "cairn/scene.h"
#include "cairn/shape.h"
#include "cairn/solve.h"
#include "cairn/statistics.h"
#include "cairn/study.h"
#include "cairn/world.h"

#endif
