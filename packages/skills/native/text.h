/*
 * A text that grows. What it holds belongs to strangers, so everything is added in one place, which knows how much room is
 * left. A text that could not grow is broken, and nobody uses it.
 */
#ifndef METIER_TEXT_H
#define METIER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
  char *at;
  size_t length, room;
  bool is_broken;
} text;

static inline void add(text *to, const void *bytes, size_t length) {
  if (to->is_broken || length == 0) return;
  if (length > to->room - to->length) {
    size_t room = to->room == 0 ? 4096 : to->room;
    while (room - to->length < length && room <= SIZE_MAX / 2) room *= 2;
    char *at = room - to->length < length ? NULL : realloc(to->at, room);
    if (at == NULL) {
      to->is_broken = true;
      return;
    }
    to->at = at;
    to->room = room;
  }
  memcpy(to->at + to->length, bytes, length);
  to->length += length;
}

static inline void add_string(text *to, const char *string) { add(to, string, strlen(string)); }

static inline void add_number(text *to, uint64_t number) {
  char digits[20];
  size_t at = sizeof digits;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  add(to, digits + at, sizeof digits - at);
}

static inline void drop(text *old) {
  free(old->at);
  *old = (text){0};
}

/* Where 64 bits are enough for nanoseconds: from 1970 to 2262. */
static inline bool is_dated(const struct stat *stats) {
  const int64_t most = INT64_MAX / 1000000000 - 1;
  return stats->st_mtim.tv_sec >= 0 && stats->st_mtim.tv_sec < most && stats->st_ctim.tv_sec >= 0 &&
         stats->st_ctim.tv_sec < most;
}

static inline int64_t nanoseconds(struct timespec time) { return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec; }

/* As `stampOf` writes it; Node's numbers have a sign. */
static inline void add_stamp(text *to, const struct stat *stats) {
  const int64_t numbers[] = {
      (int64_t)stats->st_dev,
      (int64_t)stats->st_ino,
      (int64_t)stats->st_mode,
      (int64_t)stats->st_size,
      nanoseconds(stats->st_mtim),
      nanoseconds(stats->st_ctim),
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (i > 0) add(to, ":", 1);
    if (numbers[i] < 0) add(to, "-", 1);
    add_number(to, numbers[i] < 0 ? 0 - (uint64_t)numbers[i] : (uint64_t)numbers[i]);
  }
}

#endif
