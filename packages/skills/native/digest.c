#include "digest.h"

#include <string.h>

/* Of OpenSSL, whose header says that programs should use something slower. They give NULL if they could not do it. */
unsigned char *SHA1(const unsigned char *bytes, size_t length, unsigned char *digest);
unsigned char *SHA256(const unsigned char *bytes, size_t length, unsigned char *digest);
void ERR_clear_error(void);

#pragma weak SHA1
#pragma weak SHA256
#pragma weak ERR_clear_error

/* OpenSSL keeps an error for whoever asks next: Node would say it of something else. */
static bool is_made(const unsigned char *digest) {
  if (digest == NULL && ERR_clear_error != NULL) ERR_clear_error();
  return digest != NULL;
}

bool write_digest(const void *bytes, size_t length, char to[HEX_DIGEST]) {
  static const char digits[] = "0123456789abcdef";
  unsigned char digest[HEX_DIGEST / 2];
  if (!is_made(SHA256(bytes, length, digest))) return false;
  for (size_t i = 0; i < sizeof digest; i++) {
    to[2 * i] = digits[digest[i] >> 4];
    to[2 * i + 1] = digits[digest[i] & 15];
  }
  return true;
}

bool write_sha1(const void *bytes, size_t length, uint8_t to[SHA1_BYTES]) { return is_made(SHA1(bytes, length, to)); }

bool can_digest(void) {
  static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  char digest[HEX_DIGEST];
  return SHA256 != NULL && write_digest("", 0, digest) && memcmp(digest, of_nothing, sizeof digest) == 0;
}

bool can_digest_sha1(void) {
  static const uint8_t of_nothing[SHA1_BYTES] = {0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d, 0x32, 0x55,
                                                 0xbf, 0xef, 0x95, 0x60, 0x18, 0x90, 0xaf, 0xd8, 0x07, 0x09};
  uint8_t digest[SHA1_BYTES];
  return SHA1 != NULL && write_sha1("", 0, digest) && memcmp(digest, of_nothing, sizeof digest) == 0;
}
