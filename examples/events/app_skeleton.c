// An app with a page: the UI thread makes it and asks a loader for its contents, which come back as a message. The user may leave the page
// before they do.
//
// raddle: expect: violated(memory)
// raddle: -D RIGHT=1 expect: holds classes: 2

#include <assert.h>
#include <raddle.h>
#include <stdlib.h>

static raddle_thread ui = RADDLE_QUEUE;
static raddle_thread loader = RADDLE_QUEUE;

struct page {
    int loaded;
};

// Of the UI thread alone, so nothing has to be locked.
static struct page *page;

static void show(void *nothing) {
#ifdef RIGHT
    if (page == 0)
        return;
#endif
    assert(!page->loaded);
    page->loaded = 1;
}

static void load(void *nothing) {
    raddle_post(&ui, show, 0);
}

static void create(void *nothing) {
    page = malloc(sizeof *page);
    page->loaded = 0;
    raddle_post(&loader, load, 0);
}

static void leave(void *nothing) {
    free(page);
    page = 0;
}

// The user.
int main(void) {
    raddle_post(&ui, create, 0);
    raddle_post(&ui, leave, 0);
    return 0;
}
