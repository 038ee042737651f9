/* The head of a usual skill file, as `readHead` of `skill-head.ts` gives it. */
#ifndef METIER_SKILL_HEAD_H
#define METIER_SKILL_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOT_UTF8 SIZE_MAX

typedef struct {
  /* In the file. */
  const char *yaml;
  size_t yaml_bytes;
  /* In units of UTF-16, which JavaScript counts. */
  size_t yaml_units, body_units;
  /* `body_line` is the line of the file where the body starts, from 1. */
  size_t body_line, body_lines;
} skill_head;

/* Returns whether the file is usual: one with anything to repair is parsed as a whole. */
bool read_head(const char *file, size_t length, skill_head *found);

/* How many units of UTF-16 the bytes are, or `NOT_UTF8`. */
size_t count_units(const char *from, size_t length);

#endif
