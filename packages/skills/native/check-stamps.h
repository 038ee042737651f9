/* A thread that compares the stamps of an index with what is on disk: what `check-stamps.ts` does, for all entries. */
#ifndef METIER_CHECK_STAMPS_H
#define METIER_CHECK_STAMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  /* The thread's, and freed with it. */
  char *root;
  /* The entries of the index, three lines each: key, stamp and JSON. They must stay until the thread has ended. */
  const char *entries;
  size_t length;
  /* What changed since this moment is not believed, in milliseconds since 1970. */
  int64_t settled_ms;
} check_work;

typedef struct checking checking;

/* NULL if there is no memory or no thread; the root is then still the caller's. */
checking *start_checking(check_work work);

/* Whether every entry has its stamp. Waits for the thread's end. */
bool are_unchanged(checking *task);

/* Stops the thread and waits for its end. */
void end_checking(checking *task);

#endif
