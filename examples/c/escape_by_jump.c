// raddle: expect: holds
// raddle: -D BROKEN expect: violated(deadlock)
// raddle: -D LATE expect: violated(memory)
//
// A worker that gives up in the middle of its task jumps back to where it began (setjmp, longjmp), unlocks what it holds, and goes on with the next.
// Broken: it jumps over the unlocking, and the other worker waits for ever. Late: the buffer is that of a function that has returned.
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done, given_up;

struct task {
    jmp_buf begin;
    int number;
};

static void step(struct task *task, int depth)
{
    if (depth == 0) {
        if (task->number == 1)
            longjmp(task->begin, 7);
        done++;
        return;
    }
    step(task, depth - 1);
}

static void perform(struct task *task)
{
    pthread_mutex_lock(&mutex);
    switch (setjmp(task->begin)) {
    case 0:
        step(task, 2);
        break;
    case 7:
        given_up++;
#ifdef BROKEN
        return;
#endif
        break;
    default:
        assert(0);
    }
    pthread_mutex_unlock(&mutex);
}

static void *worker(void *unused)
{
    struct task task;
    for (task.number = 0; task.number < 2; task.number++)
        perform(&task);
#ifdef LATE
    longjmp(task.begin, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, worker, 0);
    worker(0);
    pthread_join(other, 0);
    assert(done == 2 && given_up == 2);
    return 0;
}
