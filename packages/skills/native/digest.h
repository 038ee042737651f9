/*
 * SHA-256 of the Node that loads this file: loading `node:crypto` takes as long as a thousand digests. Where Node hides it,
 * nothing that needs it is exported.
 */
#ifndef METIER_DIGEST_H
#define METIER_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { HEX_DIGEST = 64 };

bool can_digest(void);

/* In small hexadecimal digits, without a 0 at the end. */
void write_digest(const void *bytes, size_t length, char to[HEX_DIGEST]);

#endif
