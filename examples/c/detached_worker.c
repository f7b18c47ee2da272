// raddle: --model sc expect: holds
// raddle: --model tso expect: holds
// raddle: --model sc -D BROKEN expect: violated(memory)
// raddle: --model sc -D FAILS expect: violated(assert)
// raddle: --model sc -D STAYS expect: violated(deadlock)
//
// A worker that nobody joins waits for jobs for ever. Returning from `main` ends the program and the worker with it, which is no deadlock.
// Broken: the queue is a local variable of `main`, and the worker may still look at it when `main` has returned. With FAILS the
// worker does something wrong in the time it has. With STAYS `main` ends only its own thread, so that the worker waits
// for ever indeed.
#include <assert.h>
#include <pthread.h>

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    int jobs, done;
};

static void *worker(void *arg)
{
    struct queue *queue = arg;
    pthread_mutex_lock(&queue->mutex);
    for (;;) {
        while (queue->jobs == 0)
            pthread_cond_wait(&queue->filled, &queue->mutex);
        queue->jobs--;
        queue->done++;
#ifdef FAILS
        assert(queue->done < 2);
#endif
    }
    return 0;
}

static void submit(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->jobs++;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->mutex);
}

int main(void)
{
#ifndef BROKEN
    static
#endif
        struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    pthread_t thread;
    pthread_create(&thread, 0, worker, &queue);
    pthread_detach(thread);
    submit(&queue);
    submit(&queue);
#ifdef STAYS
    pthread_exit(0);
#endif
    return 0;
}
