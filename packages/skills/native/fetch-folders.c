#include "fetch-folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#include "skill-head.h"
#include "thread.h"

enum {
  BATCH = 32,            /* `AHEAD_BATCH`: folders at the top that are fetched together */
  LEAD = 32,             /* this many batches are begun before the search needs them at most */
  MAX_DEPTH = 5,         /* it does not fetch below */
  MAX_ENTRIES = 4000,    /* of one folder at the top and all below it */
  MAX_FILE = 128 * 1024, /* a larger file is left out */
  MAX_TEXT = 2 << 20,    /* of a batch; what comes then is left out */
};

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
#define SKILL_FILE "SKILL.md"

/* What one thread needs to fetch. A skill file comes after the folders of its skill. */
typedef struct {
  const fetch_work *work;
  const atomic_bool *is_cancelled;
  text path, lines, files, heads;
  size_t left;
  _Alignas(struct dirent64) char listed[32 * 1024];
  char content[MAX_FILE + 1];
} desk;

typedef struct {
  batch fetched;
  bool is_ready;
} place;

struct fetching {
  fetch_work work;
  int root;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t moved;
  /* These are guarded by the lock. Batch n has place n % LEAD; `rest` are the folders of those that nobody has begun. */
  place places[LEAD];
  size_t begun, taken;
  const char *rest;
  atomic_bool is_cancelled;
  /* The second one is of the thread that takes batches: where it would wait, it fetches, too. */
  desk desks[2];
};

void drop_batch(batch *old) {
  drop(&old->lines);
  drop(&old->heads);
}

/* ---- One folder ---- */

typedef struct {
  size_t entries, count;
  bool has_skill;
  /* Of the folders in it, each ending in a 0; then sorted. */
  text names;
  const char **folders;
} listing;

static bool is_in(const char *names, const char *name) {
  for (; *names != 0; names += strlen(names) + 1)
    if (strcmp(names, name) == 0) return true;
  return false;
}

/* In JSON it stays as it is, and sorting by bytes gives the order of JavaScript. */
static bool is_usual_name(const char *name) {
  for (const char *at = name; *at != 0; at++) {
    unsigned char byte = (unsigned char)*at;
    if (byte < ' ' || byte == '"' || byte == '\\' || byte >= 0xf0) return false;
  }
  return count_units(name, strlen(name)) != NOT_UTF8;
}

/* `isSkillFileName`, or more: JavaScript makes a `k` of the sign for Kelvin, too. */
static bool may_be_skill_name(const char *name) {
  if (strstr(name, "\xe2\x84\xaa") != NULL) return true;
  size_t at = 0;
  while (at < 8 && (name[at] | 0x20) == "skill.md"[at]) at++;
  return at == 8 && name[at] == 0;
}

/* Returns whether the entry is usual. */
static bool take_entry(listing *to, const char *name, unsigned char type) {
  if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return true;
  if (++to->entries > MAX_ENTRIES) return false;
  if (type == DT_DIR) {
    add(&to->names, name, strlen(name) + 1);
    to->count++;
    return is_usual_name(name);
  }
  if (type == DT_REG && strcmp(name, SKILL_FILE) == 0) {
    to->has_skill = true;
    return true;
  }
  return type != DT_LNK && type != DT_UNKNOWN && strcmp(name, ".gitignore") != 0 && !may_be_skill_name(name);
}

static bool list_folder(desk *task, int folder, listing *to) {
  for (;;) {
    ssize_t length = getdents64(folder, task->listed, sizeof task->listed);
    if (length <= 0) return length == 0 && !to->names.is_broken;
    for (ssize_t at = 0; at < length;) {
      const struct dirent64 *entry = (const void *)(task->listed + at);
      if (!take_entry(to, entry->d_name, entry->d_type)) return false;
      at += entry->d_reclen;
    }
  }
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool sort_folders(listing *of) {
  if (of->count == 0) return true;
  of->folders = malloc(of->count * sizeof *of->folders);
  if (of->folders == NULL) return false;
  const char *name = of->names.at;
  for (size_t i = 0; i < of->count; i++, name += strlen(name) + 1) of->folders[i] = name;
  qsort(of->folders, of->count, sizeof *of->folders, compare_names);
  return true;
}

/* As `packListing` writes it. */
static void add_listing(text *to, const listing *of) {
  bool is_plain = of->has_skill && of->count == 0;
  if (!is_plain) add_string(to, "{\"entries\":");
  add_number(to, of->entries);
  for (size_t i = 0; i < of->count; i++) {
    add_string(to, i == 0 ? ",\"folders\":[\"" : "\",\"");
    add_string(to, of->folders[i]);
  }
  if (of->count > 0) add_string(to, "\"]");
  if (!is_plain) add_string(to, of->has_skill ? ",\"skillFiles\":[\"" SKILL_FILE "\"]}" : "}");
  add(to, "\n", 1);
}

static void add_stamped(text *to, const text *path, const char *name, const struct stat *stats) {
  add(to, path->at, path->length);
  add_string(to, name);
  add(to, "\n", 1);
  add_stamp(to, stats);
  add(to, "\n", 1);
}

static void fetch_file(desk *task, int folder) {
  int file = openat(folder, SKILL_FILE, FILE_FLAGS);
  if (file < 0) return;
  struct stat stats;
  skill_head head;
  /* One byte more than expected: a short read proves the end. */
  bool is_usual = fstat(file, &stats) == 0 && S_ISREG(stats.st_mode) && is_dated(&stats) &&
                  stats.st_size <= MAX_FILE &&
                  read(file, task->content, (size_t)stats.st_size + 1) == stats.st_size &&
                  read_head(task->content, (size_t)stats.st_size, &head);
  close(file);
  if (!is_usual) return;
  add_stamped(&task->files, &task->path, SKILL_FILE, &stats);
  const size_t numbers[] = {head.yaml_units, head.body_line, head.body_lines, head.body_units};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    add_number(&task->files, numbers[i]);
    add(&task->files, "\n", 1);
  }
  add(&task->heads, head.yaml, head.yaml_bytes);
}

/* JavaScript reads by whole paths, which have an end. */
static bool is_short(const desk *task, const char *name) {
  return strlen(task->work->root) + task->path.length + strlen(name) + sizeof "/" SKILL_FILE <= PATH_MAX;
}

/* A folder and those below it. The task's path is that of the parent, with a slash; a skill inside a skill is not read. */
static void fetch_folder(desk *task, int parent, const char *name, int depth, bool is_inside) {
  bool has_room = task->lines.length + task->files.length + task->heads.length < MAX_TEXT;
  if (!has_room || !is_short(task, name) || atomic_load(task->is_cancelled)) return;
  int folder = openat(parent, name, FOLDER_FLAGS | O_NOFOLLOW);
  if (folder < 0) return;
  size_t length = task->path.length;
  add_string(&task->path, name);
  add(&task->path, "/", 1);
  struct stat stats;
  listing found = {0};
  /* Stamped before it is listed: a change in between makes the stamp old, never the listing. */
  if (fstat(folder, &stats) == 0 && is_dated(&stats) && list_folder(task, folder, &found) && sort_folders(&found)) {
    add_stamped(&task->lines, &task->path, "", &stats);
    add_listing(&task->lines, &found);
    if (found.has_skill && !is_inside && task->work->with_heads) fetch_file(task, folder);
    task->left -= found.entries < task->left ? found.entries : task->left;
    for (size_t i = 0; i < found.count && depth < MAX_DEPTH && task->left > 0; i++)
      if (!is_in(task->work->skipped, found.folders[i]))
        fetch_folder(task, folder, found.folders[i], depth + 1, is_inside || found.has_skill);
  }
  task->path.length = length;
  free(found.folders);
  drop(&found.names);
  close(folder);
}

/* ---- Two threads and their batches ---- */

static void free_desk(desk *old) {
  text *const texts[] = {&old->path, &old->lines, &old->files, &old->heads};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) drop(texts[i]);
}

static batch fetch_batch(desk *task, int root, const char *names) {
  for (size_t count = 0; count < BATCH && *names != 0; count++, names += strlen(names) + 1) {
    task->left = MAX_ENTRIES;
    task->path.length = 0;
    add(&task->path, "/", 1);
    if (!is_in(task->work->skipped, names) && is_usual_name(names)) fetch_folder(task, root, names, 1, false);
    add(&task->lines, task->files.at, task->files.length);
    task->lines.is_broken |= task->files.is_broken | task->path.is_broken;
    task->files.length = 0;
  }
  batch fetched = {task->lines, task->heads};
  task->lines = task->heads = (text){0};
  return fetched;
}

static bool may_begin(const fetching *task) { return *task->rest != 0 && task->begun - task->taken < LEAD; }

/* Fetches the next batch that nobody has begun; others may use the lock meanwhile. */
static void fetch_next(fetching *task, desk *own) {
  place *to = &task->places[task->begun++ % LEAD];
  const char *names = task->rest;
  for (size_t count = 0; count < BATCH && *task->rest != 0; count++) task->rest += strlen(task->rest) + 1;
  pthread_mutex_unlock(&task->lock);
  batch fetched = fetch_batch(own, task->root, names);
  pthread_mutex_lock(&task->lock);
  *to = (place){fetched, true};
  pthread_cond_signal(&task->moved);
}

static void *fetch_ahead(void *given) {
  fetching *task = given;
  pthread_mutex_lock(&task->lock);
  while (*task->rest != 0 && !atomic_load(&task->is_cancelled)) {
    if (may_begin(task)) fetch_next(task, &task->desks[0]);
    else pthread_cond_wait(&task->moved, &task->lock);
  }
  pthread_mutex_unlock(&task->lock);
  return NULL;
}

fetching *start_fetching(fetch_work work) {
  fetching *task = calloc(1, sizeof *task);
  if (task == NULL) return NULL;
  task->work = work;
  task->rest = work.folders;
  for (size_t i = 0; i < 2; i++) {
    task->desks[i].work = &task->work;
    task->desks[i].is_cancelled = &task->is_cancelled;
  }
  pthread_mutex_init(&task->lock, NULL);
  pthread_cond_init(&task->moved, NULL);
  task->root = open(work.root, FOLDER_FLAGS);
  if (task->root >= 0 && start_thread(&task->thread, fetch_ahead, task)) return task;
  if (task->root >= 0) close(task->root);
  free(task);
  return NULL;
}

/* The next one in order; waits if the other thread has begun it. */
static batch take_next(fetching *task) {
  place *from = &task->places[task->taken % LEAD];
  while (!from->is_ready) {
    if (may_begin(task)) fetch_next(task, &task->desks[1]);
    else pthread_cond_wait(&task->moved, &task->lock);
  }
  batch taken = from->fetched;
  *from = (place){0};
  task->taken++;
  pthread_cond_signal(&task->moved);
  return taken;
}

batch take_batch(fetching *task, size_t number) {
  batch taken = {0};
  pthread_mutex_lock(&task->lock);
  while (task->taken <= number && (task->taken < task->begun || *task->rest != 0)) {
    drop_batch(&taken);
    taken = take_next(task);
  }
  bool is_it = task->taken == number + 1 && !taken.lines.is_broken && !taken.heads.is_broken;
  pthread_mutex_unlock(&task->lock);
  if (!is_it) drop_batch(&taken);
  return taken;
}

void end_fetching(fetching *task) {
  pthread_mutex_lock(&task->lock);
  atomic_store(&task->is_cancelled, true);
  pthread_cond_signal(&task->moved);
  pthread_mutex_unlock(&task->lock);
  pthread_join(task->thread, NULL);
  close(task->root);
  for (size_t i = 0; i < LEAD; i++) drop_batch(&task->places[i].fetched);
  for (size_t i = 0; i < 2; i++) free_desk(&task->desks[i]);
  char *const given[] = {task->work.root, task->work.folders, task->work.skipped};
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) free(given[i]);
  pthread_cond_destroy(&task->moved);
  pthread_mutex_destroy(&task->lock);
  free(task);
}
