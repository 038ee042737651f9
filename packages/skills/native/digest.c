#include "digest.h"

#include <stdatomic.h>
#include <string.h>

typedef unsigned char *digest_function(const unsigned char *bytes, size_t length, unsigned char *digest);

/* Of OpenSSL, whose header says that programs should use something slower. They give NULL if they could not do it. */
digest_function SHA1, SHA256;
void ERR_clear_error(void);

#pragma weak SHA1
#pragma weak SHA256
#pragma weak ERR_clear_error

enum { MOST = 32 }; /* bytes of a digest */

typedef struct {
  const char *of_nothing;
  atomic_int found; /* 0: nobody asked; threads that ask at once find the same */
} known_digest;

static known_digest sha1 = {.of_nothing = "da39a3ee5e6b4b0d3255bfef95601890afd80709"};
static known_digest sha256 = {.of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"};

bool has_sha1(void) { return SHA1 != NULL; }
bool has_sha256(void) { return SHA256 != NULL; }

static void write_hex(const unsigned char *bytes, size_t length, char *to) {
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < length; i++) {
    to[2 * i] = digits[bytes[i] >> 4];
    to[2 * i + 1] = digits[bytes[i] & 15];
  }
}

/* OpenSSL keeps an error for whoever asks next: Node would say it of something else. */
static bool try_digest(digest_function *make, const void *bytes, size_t length, unsigned char *to) {
  if (make(bytes, length, to) != NULL) return true;
  if (ERR_clear_error != NULL) ERR_clear_error();
  return false;
}

/* Asked at the first use, since OpenSSL's first digest takes a third of a millisecond. */
static bool is_right(digest_function *make, known_digest *known) {
  enum { UNKNOWN, RIGHT, WRONG };
  int found = atomic_load(&known->found);
  if (found == UNKNOWN) {
    unsigned char digest[MOST] = {0};
    char hex[2 * MOST];
    size_t digits = strlen(known->of_nothing);
    bool is_made = try_digest(make, "", 0, digest);
    if (is_made) write_hex(digest, digits / 2, hex);
    found = is_made && memcmp(hex, known->of_nothing, digits) == 0 ? RIGHT : WRONG;
    atomic_store(&known->found, found);
  }
  return found == RIGHT;
}

bool write_sha256(const void *bytes, size_t length, char to[HEX_DIGEST]) {
  unsigned char digest[HEX_DIGEST / 2];
  if (!is_right(SHA256, &sha256) || !try_digest(SHA256, bytes, length, digest)) return false;
  write_hex(digest, sizeof digest, to);
  return true;
}

bool write_sha1(const void *bytes, size_t length, uint8_t to[SHA1_BYTES]) {
  return is_right(SHA1, &sha1) && try_digest(SHA1, bytes, length, to);
}
