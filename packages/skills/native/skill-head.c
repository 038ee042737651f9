#include "skill-head.h"

#include <string.h>

enum { MAX_YAML_UNITS = 65536 }; /* `MAX_FRONTMATTER` */

size_t count_units(const char *from, size_t length) {
  const unsigned char *bytes = (const unsigned char *)from;
  size_t units = 0, at = 0;
  while (at < length) {
    uint64_t eight = UINT64_MAX;
    if (length - at >= sizeof eight) memcpy(&eight, bytes + at, sizeof eight);
    if ((eight & 0x8080808080808080u) == 0) {
      at += sizeof eight;
      units += sizeof eight;
      continue;
    }
    unsigned char first = bytes[at++];
    units++;
    if (first < 0x80) continue;
    size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || length - at < more) return NOT_UTF8;
    /* Neither longer than needed, nor half a pair of UTF-16, nor above U+10FFFF. */
    unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[at] < least || bytes[at] > most) return NOT_UTF8;
    for (size_t i = 1; i < more; i++)
      if ((bytes[at + i] & 0xc0) != 0x80) return NOT_UTF8;
    at += more;
    if (more == 3) units++;
  }
  return units;
}

static size_t count_line_ends(const char *from, const char *end) {
  size_t count = 0;
  for (; from < end; from++) count += *from == '\n';
  return count;
}

static bool is_between(char letter, char first, char last) { return letter >= first && letter <= last; }

/* Where the line starts that ends the frontmatter. NULL if there is none, or if more than `---` is on that line. */
static const char *find_fence(const char *from, const char *end) {
  for (const char *line = from; end - line >= 3;) {
    if (memcmp(line, "---", 3) == 0) return end - line == 3 || line[3] == '\n' ? line : NULL;
    line = memchr(line, '\n', (size_t)(end - line));
    if (line == NULL) return NULL;
    line++;
  }
  return NULL;
}

/* Where the text ends without its last blanks. NULL if it ends in what may be a blank of Unicode. */
static const char *trim_end(const char *from, const char *end) {
  while (end > from && (end[-1] == ' ' || is_between(end[-1], '\t', '\r'))) end--;
  if (end == from || (unsigned char)end[-1] < 0x80) return end;
  /* U+00A0, and the first two bytes of U+1680, U+2000 to U+207F, U+3000 and U+FEFF, with others that are no blanks. */
  static const char *const blanks[] = {"\xe1\x9a", "\xe2\x80", "\xe2\x81", "\xe3\x80", "\xef\xbb"};
  if (end - from >= 2 && memcmp(end - 2, "\xc2\xa0", 2) == 0) return NULL;
  for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
    if (end - from >= 3 && memcmp(end - 3, blanks[i], 2) == 0) return NULL;
  return end;
}

bool read_head(const char *file, size_t length, skill_head *found) {
  const char *end = file + length;
  if (length < 8 || memcmp(file, "---\n", 4) != 0) return false;
  const char *yaml = file + 4;
  /* Blanks, a comment or a second fence may come first, and then there is more to look at. */
  if (!is_between(*yaml, 'a', 'z') && !is_between(*yaml, 'A', 'Z')) return false;
  const char *fence = find_fence(yaml, end);
  if (fence == NULL || memchr(file, '\r', length) != NULL || count_units(file, length) == NOT_UTF8) return false;
  const char *after = end - fence > 3 ? fence + 4 : end;
  const char *body = after;
  while (body < end && *body == '\n') body++;
  if (body < end && !is_between(*body, '!', '~')) return false;
  const char *body_end = trim_end(body, end);
  if (body_end == NULL) return false;
  *found = (skill_head){
      .yaml = yaml,
      .yaml_bytes = (size_t)(fence - yaml),
      .yaml_units = count_units(yaml, (size_t)(fence - yaml)),
      .body_units = count_units(body, (size_t)(body_end - body)),
      .body_line = 2 + count_line_ends(yaml, body == body_end ? after : body),
      .body_lines = body == body_end ? 0 : count_line_ends(body, body_end) + 1,
  };
  return found->yaml_units <= MAX_YAML_UNITS;
}
