#ifndef RADDLE_GENMC_H
#define RADDLE_GENMC_H
/* Programs written for GenMC include this for its vocabulary, which needs no declarations here. */
#endif
