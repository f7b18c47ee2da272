// raddle: --engine oc --model sc --no race,deadlock expect: holds
// raddle: --engine oc --model sc --no race,deadlock -D SHORT expect: violated(memory)
// raddle: --engine oc --model sc --no race,deadlock -D WRONG expect: violated(error)
//
// As many threads as an input says, each with a cell of an array that is as long. Short: the array has one cell too few. Wrong: the sum can be what it is said not to be.
#include <pthread.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

static void *worker(void *cell)
{
    *(unsigned *)cell = __VERIFIER_nondet_uint() % 100;
    return 0;
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 1 && n <= 3);
    pthread_t *threads = malloc(n * sizeof *threads);
#ifdef SHORT
    unsigned *cells = malloc((n - 1) * sizeof *cells);
#else
    unsigned *cells = malloc(n * sizeof *cells);
#endif
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], 0, worker, &cells[i]);
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], 0);
        sum += cells[i];
    }
#ifdef WRONG
    if (sum == 297)
#else
    if (sum > 99 * (unsigned)n)
#endif
        reach_error();
    free(cells);
    free(threads);
    return 0;
}
