/*
 * Makes folders, files and links on its own thread, one after the other, for `tree-maker.ts` of `@metier/install`. It stops
 * at the first that cannot be made, and says what the system said.
 *
 * It is given batches. In a batch, entries follow each other: four numbers of 32 bits (the lowest byte first), which are the
 * kind, the mode, the length of the path and that of the content; then the path and a 0; then the content and a 0. The
 * content of a link is its target.
 */
#ifndef METIER_MAKE_TREE_H
#define METIER_MAKE_TREE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct making making;

/* How far it is. The texts live as long as the work. */
typedef struct {
  size_t made;     /* batches */
  bool is_as_told; /* each file can be executed or not, as it should */
  int fault;       /* what the system said; 0: nothing */
  const char *call, *path, *target;
} making_state;

/* `tell` is called on the thread when there is something new; then not again until `see_made`. NULL without a thread. */
making *start_making(void (*tell)(void *listener), void *listener);

/* Copies the batch. Returns whether there was memory for it. */
bool give_batch(making *task, const void *bytes, size_t length);

making_state see_made(making *task);

/* Waits for the system call under way. What is left is not made. */
void end_making(making *task);

#endif
