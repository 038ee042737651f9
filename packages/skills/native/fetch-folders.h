/*
 * A thread that lists folders and reads the skill files in them ahead of the search: what `fetch-ahead.ts` does, for what
 * is usual. The rest (a link, a `.gitignore`, a name that needs escaping, any error) it leaves out, and the search reads
 * that itself and says what is wrong with it. Where the search would wait for the thread, it fetches the next batch itself.
 */
#ifndef METIER_FETCH_FOLDERS_H
#define METIER_FETCH_FOLDERS_H

#include "text.h"

/* As `FetchedBatch` of `fetched-batch.ts`. */
typedef struct {
  text lines, heads;
} batch;

typedef struct {
  /* Each list is names that end in a 0, and ends in an empty name. All three are the thread's, and are freed with it. */
  char *root, *folders, *skipped;
  bool with_heads;
} fetch_work;

typedef struct fetching fetching;

/* NULL if there is no memory or no thread; the work is then still the caller's. */
fetching *start_fetching(fetch_work work);

/* Waits for a batch and gives it to the caller; earlier ones are dropped. Empty if it was not fetched. */
batch take_batch(fetching *task, size_t number);

void drop_batch(batch *old);

/* Stops the thread and waits for its end. */
void end_fetching(fetching *task);

#endif
