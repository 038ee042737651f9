#include "make-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "thread.h"

enum {
  FOLDER = 0,
  FILE_ENTRY = 1,
  LINK = 2,
  HEADER = 16,         /* bytes */
  EXECUTABLE = 0111,   /* for anyone, as in a content identity */
  MAX_WRITE = 1 << 20, /* then it looks whether it was cancelled */
};

#define FILE_FLAGS (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

typedef struct given_batch {
  struct given_batch *next;
  size_t length;
  char bytes[];
} given_batch;

struct making {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t moved;
  void (*tell)(void *listener);
  void *listener;
  atomic_bool is_cancelled;
  /* These are guarded by the lock. `failed` has the texts of the fault. */
  given_batch *first, *last, *failed;
  making_state state;
  bool was_told;
};

typedef struct {
  uint32_t kind, mode, size;
  const char *path, *content;
} entry;

/* ---- One entry ---- */

static uint32_t read_number(const char *at) {
  const unsigned char *byte = (const unsigned char *)at;
  return byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}

/* A text of this length, and the 0 after it. NULL if the batch has less. */
static const char *take_bytes(const given_batch *batch, size_t *at, uint32_t length) {
  if (batch->length - *at <= length) return NULL;
  const char *taken = batch->bytes + *at;
  *at += (size_t)length + 1;
  return taken[length] == 0 ? taken : NULL;
}

static bool take_entry(const given_batch *batch, size_t *at, entry *to) {
  if (batch->length - *at < HEADER) return false;
  const char *header = batch->bytes + *at;
  uint32_t path_length = read_number(header + 8);
  *to = (entry){.kind = read_number(header), .mode = read_number(header + 4), .size = read_number(header + 12)};
  *at += HEADER;
  to->path = take_bytes(batch, at, path_length);
  if (to->path == NULL || strlen(to->path) != path_length) return false;
  to->content = take_bytes(batch, at, to->size);
  return to->kind <= LINK && to->content != NULL && (to->kind != LINK || strlen(to->content) == to->size);
}

/* Returns the call that failed, with `errno`; NULL if none did. */
static const char *write_all(making *task, int file, const entry *from) {
  for (size_t at = 0; at < from->size && !atomic_load(&task->is_cancelled);) {
    size_t left = from->size - at;
    ssize_t written = write(file, from->content + at, left < MAX_WRITE ? left : MAX_WRITE);
    if (written > 0) at += (size_t)written;
    else if (written == 0 || errno != EINTR) return "write";
  }
  return NULL;
}

static const char *make_file(making *task, const entry *from, bool *is_as_told) {
  int file;
  do file = open(from->path, FILE_FLAGS, (mode_t)from->mode);
  while (file < 0 && errno == EINTR);
  if (file < 0) return "open";
  struct stat stats;
  const char *failed = write_all(task, file, from);
  if (failed == NULL && fstat(file, &stats) != 0) failed = "fstat";
  if (failed == NULL) *is_as_told &= !(stats.st_mode & EXECUTABLE) == !(from->mode & EXECUTABLE);
  int before = errno;
  if (close(file) != 0 && failed == NULL && errno != EINTR && errno != EINPROGRESS) return "close";
  errno = before;
  return failed;
}

static const char *make_entry(making *task, const entry *from, bool *is_as_told) {
  if (from->kind == FOLDER) return mkdir(from->path, (mode_t)from->mode) == 0 ? NULL : "mkdir";
  if (from->kind == LINK) return symlink(from->content, from->path) == 0 ? NULL : "symlink";
  return make_file(task, from, is_as_told);
}

/* ---- The thread and its batches ---- */

static making_state make_batch(making *task, const given_batch *batch) {
  making_state state = {.is_as_told = true};
  for (size_t at = 0; at < batch->length && !atomic_load(&task->is_cancelled);) {
    entry next;
    errno = 0;
    if (!take_entry(batch, &at, &next)) return (making_state){.fault = EINVAL, .call = "open"};
    state.call = make_entry(task, &next, &state.is_as_told);
    if (state.call == NULL) continue;
    state.fault = errno == 0 ? EIO : errno;
    state.path = next.path;
    state.target = next.kind == LINK ? next.content : "";
    return state;
  }
  return state;
}

/* Returns whether to go on. */
static bool note_made(making *task, given_batch *batch, making_state of) {
  pthread_mutex_lock(&task->lock);
  of.made = task->state.made + (of.fault == 0);
  of.is_as_told &= task->state.is_as_told;
  task->state = of;
  bool tells = !task->was_told;
  task->was_told = true;
  if (of.fault != 0) task->failed = batch;
  else free(batch);
  pthread_mutex_unlock(&task->lock);
  if (tells) task->tell(task->listener);
  return of.fault == 0;
}

/* Waits for it. NULL: it was cancelled. */
static given_batch *next_batch(making *task) {
  pthread_mutex_lock(&task->lock);
  while (task->first == NULL && !atomic_load(&task->is_cancelled)) pthread_cond_wait(&task->moved, &task->lock);
  given_batch *next = atomic_load(&task->is_cancelled) ? NULL : task->first;
  if (next != NULL) task->first = next->next;
  pthread_mutex_unlock(&task->lock);
  return next;
}

static void *make_all(void *given) {
  making *task = given;
  for (given_batch *batch; (batch = next_batch(task)) != NULL;) {
    making_state state = make_batch(task, batch);
    if (!note_made(task, batch, state)) break;
  }
  return NULL;
}

making *start_making(void (*tell)(void *listener), void *listener) {
  making *task = calloc(1, sizeof *task);
  if (task == NULL) return NULL;
  task->tell = tell;
  task->listener = listener;
  task->state.is_as_told = true;
  pthread_mutex_init(&task->lock, NULL);
  pthread_cond_init(&task->moved, NULL);
  if (start_thread(&task->thread, make_all, task)) {
    pthread_setname_np(task->thread, "metier-maker");
    return task;
  }
  pthread_cond_destroy(&task->moved);
  pthread_mutex_destroy(&task->lock);
  free(task);
  return NULL;
}

bool give_batch(making *task, const void *bytes, size_t length) {
  given_batch *batch = malloc(sizeof *batch + length);
  if (batch == NULL) return false;
  batch->next = NULL;
  batch->length = length;
  if (length > 0) memcpy(batch->bytes, bytes, length);
  pthread_mutex_lock(&task->lock);
  bool is_late = task->state.fault != 0;
  if (!is_late) {
    if (task->first == NULL) task->first = batch;
    else task->last->next = batch;
    task->last = batch;
    pthread_cond_signal(&task->moved);
  }
  pthread_mutex_unlock(&task->lock);
  if (is_late) free(batch);
  return true;
}

making_state see_made(making *task) {
  pthread_mutex_lock(&task->lock);
  making_state state = task->state;
  task->was_told = false;
  pthread_mutex_unlock(&task->lock);
  return state;
}

void end_making(making *task) {
  pthread_mutex_lock(&task->lock);
  atomic_store(&task->is_cancelled, true);
  pthread_cond_signal(&task->moved);
  pthread_mutex_unlock(&task->lock);
  pthread_join(task->thread, NULL);
  while (task->first != NULL) {
    given_batch *old = task->first;
    task->first = old->next;
    free(old);
  }
  free(task->failed);
  pthread_cond_destroy(&task->moved);
  pthread_mutex_destroy(&task->lock);
  free(task);
}
