/* blas.h - how the linear algebra libraries may run. */
#ifndef CAIRN_MATH_BLAS_H
#define CAIRN_MATH_BLAS_H

/* One thread from now on; call before factorising. */
void cairn_blas_use_one_thread(void);

#endif
