#include "check-stamps.h"

#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#include "skill-head.h"
#include "text.h"
#include "thread.h"

struct checking {
  check_work work;
  pthread_t thread;
  atomic_bool is_cancelled;
  bool is_unchanged, has_ended;
};

typedef struct {
  const char *at;
  size_t length;
} line;

/* Takes the line at the beginning of what is left, without its line break. Returns whether there is one. */
static bool take_line(line *rest, line *taken) {
  const char *end = rest->length == 0 ? NULL : memchr(rest->at, '\n', rest->length);
  if (end == NULL) return false;
  *taken = (line){rest->at, (size_t)(end - rest->at)};
  *rest = (line){end + 1, rest->length - taken->length - 1};
  return true;
}

/*
 * Reads what a key names, `/` for the root itself, `/folder/` or `/folder/file`, by way of its path in the root. Nothing for
 * a key that JavaScript would read differently or not at all.
 */
static bool read_stats(const checking *task, int root, line key, text *path, struct stat *stats) {
  if (key.length == 0 || *key.at != '/' || strlen(task->work.root) + key.length >= PATH_MAX) return false;
  if (memchr(key.at, 0, key.length) != NULL || count_units(key.at, key.length) == NOT_UTF8) return false;
  size_t end = key.at[key.length - 1] == '/' ? key.length - 1 : key.length;
  path->length = 0;
  if (end <= 1) add(path, ".", 1);
  else add(path, key.at + 1, end - 1);
  add(path, "", 1);
  return !path->is_broken && fstatat(root, path->at, stats, 0) == 0 && is_dated(stats);
}

/* `isUnchanged` of `stamps.ts`. */
static bool is_unchanged(const checking *task, int root, line key, line stamp, text *space) {
  struct stat stats;
  if (!read_stats(task, root, key, space, &stats)) return false;
  int64_t modified = nanoseconds(stats.st_mtim), changed = nanoseconds(stats.st_ctim);
  if ((modified > changed ? modified : changed) / 1000000 >= task->work.settled_ms) return false;
  space->length = 0;
  add_stamp(space, &stats);
  return !space->is_broken && space->length == stamp.length && memcmp(space->at, stamp.at, stamp.length) == 0;
}

static void *check_all(void *given) {
  checking *task = given;
  int root = open(task->work.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
  text space = {0};
  line rest = {task->work.entries, task->work.length}, key, stamp, json;
  bool is_good = root >= 0;
  while (is_good && rest.length > 0 && !atomic_load(&task->is_cancelled))
    is_good = take_line(&rest, &key) && take_line(&rest, &stamp) && take_line(&rest, &json) &&
              is_unchanged(task, root, key, stamp, &space);
  task->is_unchanged = is_good && rest.length == 0;
  drop(&space);
  if (root >= 0) close(root);
  return NULL;
}

checking *start_checking(check_work work) {
  checking *task = calloc(1, sizeof *task);
  if (task == NULL) return NULL;
  task->work = work;
  if (start_thread(&task->thread, check_all, task)) return task;
  free(task);
  return NULL;
}

bool are_unchanged(checking *task) {
  if (!task->has_ended) pthread_join(task->thread, NULL);
  task->has_ended = true;
  return task->is_unchanged;
}

void end_checking(checking *task) {
  atomic_store(&task->is_cancelled, true);
  are_unchanged(task);
  free(task->work.root);
  free(task);
}
