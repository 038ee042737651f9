#include "digest.h"

/* Of OpenSSL, whose header says that programs should use something slower. */
unsigned char *SHA256(const unsigned char *bytes, size_t length, unsigned char *digest);

#pragma weak SHA256

bool can_digest(void) { return SHA256 != NULL; }

void write_digest(const void *bytes, size_t length, char to[HEX_DIGEST]) {
  static const char digits[] = "0123456789abcdef";
  unsigned char digest[HEX_DIGEST / 2];
  SHA256(bytes, length, digest);
  for (size_t i = 0; i < sizeof digest; i++) {
    to[2 * i] = digits[digest[i] >> 4];
    to[2 * i + 1] = digits[digest[i] & 15];
  }
}
