#include "identify-folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "digest.h"

enum {
  MAX_DEPTH = 32,
  MAX_FILE = 1 << 20, /* JavaScript reads a larger one in pieces */
};

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define FILE_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)

typedef struct {
  identity_limits left;
  size_t above; /* the length of the folder's path, as given or as it really is: the longer one */
  text path, content, *lines;
} walk;

static bool is_same_stamp(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
         a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Reads one byte more than it should have, to notice a file that has grown. */
static bool read_content(int file, size_t size, text *to) {
  const char end = 0;
  to->length = 0;
  while (to->length <= size && !to->is_broken) {
    char bytes[16 * 1024];
    size_t left = size + 1 - to->length;
    ssize_t length = read(file, bytes, left < sizeof bytes ? left : sizeof bytes);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return false;
    if (length == 0) break;
    add(to, bytes, (size_t)length);
  }
  bool is_whole = to->length == size;
  add(to, &end, 1); /* So that there are bytes, even for an empty file. */
  return is_whole && !to->is_broken;
}

static bool identify_file(walk *all, int file) {
  struct stat before, after;
  if (fstat(file, &before) != 0 || !S_ISREG(before.st_mode) || before.st_size > MAX_FILE) return false;
  size_t size = (size_t)before.st_size;
  if (size > all->left.bytes || !is_dated(&before) || !read_content(file, size, &all->content)) return false;
  if (fstat(file, &after) != 0 || !is_same_stamp(&before, &after)) return false;
  char digest[HEX_DIGEST];
  if (!write_sha256(all->content.at, size, digest)) return false;
  all->left.bytes -= size;
  add_stamp(all->lines, &before);
  add(all->lines, "\t", 1);
  add(all->lines, digest, sizeof digest);
  add(all->lines, "\t", 1);
  add(all->lines, all->path.at, all->path.length);
  add(all->lines, "\n", 1);
  return true;
}

/* Sorting by bytes gives the order of JavaScript, and nothing is to be escaped. */
static bool is_usual_name(const char *name) {
  for (; *name != 0; name++)
    if (*name < ' ' || *name > '~') return false;
  return true;
}

/* Whoever uses the folder opens what is in it by its whole path, which this walk need not. */
static bool can_be_opened(const walk *all) {
  return !all->path.is_broken && all->above + 1 + all->path.length < PATH_MAX;
}

static unsigned char type_of(int folder, const struct dirent *entry) {
  struct stat stats;
  if (entry->d_type != DT_UNKNOWN) return entry->d_type;
  if (fstatat(folder, entry->d_name, &stats, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return S_ISREG(stats.st_mode) ? DT_REG : S_ISDIR(stats.st_mode) ? DT_DIR : DT_UNKNOWN;
}

static bool identify_below(walk *all, int folder, int depth);

/* Closes what it opens. */
static bool identify_opened(walk *all, int opened, unsigned char type, int depth) {
  if (opened < 0) return false;
  if (type == DT_DIR) return identify_below(all, opened, depth + 1);
  bool is_known = identify_file(all, opened);
  close(opened);
  return is_known;
}

static bool identify_entry(walk *all, int folder, const struct dirent *entry, int depth) {
  if (all->left.entries == 0 || !is_usual_name(entry->d_name)) return false;
  all->left.entries--;
  unsigned char type = type_of(folder, entry);
  if (type != DT_REG && type != DT_DIR) return false;
  size_t above = all->path.length;
  if (above > 0) add(&all->path, "/", 1);
  add_string(&all->path, entry->d_name);
  int flags = type == DT_REG ? FILE_FLAGS : FOLDER_FLAGS | O_NOFOLLOW;
  bool is_known = can_be_opened(all) && identify_opened(all, openat(folder, entry->d_name, flags), type, depth);
  all->path.length = above;
  return is_known;
}

/* Closes the folder. */
static bool identify_below(walk *all, int folder, int depth) {
  DIR *listed = depth > MAX_DEPTH ? NULL : fdopendir(folder);
  if (listed == NULL) {
    close(folder);
    return false;
  }
  bool is_known = true;
  const struct dirent *entry = NULL;
  do {
    errno = 0;
    entry = readdir(listed);
    if (entry == NULL) is_known = errno == 0;
    else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      is_known = identify_entry(all, folder, entry, depth);
  } while (entry != NULL && is_known);
  closedir(listed);
  return is_known;
}

/* JavaScript has no name for a folder if a link leads to bytes that are not UTF-8. */
static bool is_nameable(const char *folder, const char *real) {
  return is_usual_name(real) || strcmp(folder, real) == 0;
}

bool identify_folder(const char *folder, identity_limits limits, text *lines) {
  char *real = realpath(folder, NULL);
  if (real == NULL) return false;
  size_t given = strlen(folder), resolved = strlen(real);
  walk all = {.left = limits, .above = given > resolved ? given : resolved, .lines = lines};
  int top = is_nameable(folder, real) ? open(real, FOLDER_FLAGS | O_NOFOLLOW) : -1;
  bool is_known = top >= 0 && identify_below(&all, top, 0);
  free(real);
  drop(&all.path);
  drop(&all.content);
  return is_known && !lines->is_broken;
}
