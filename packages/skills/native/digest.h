/*
 * SHA-256 and SHA-1 of the Node that loads this file: loading `node:crypto` takes as long as a thousand digests. Where a Node
 * hides them, nothing that needs them is exported. It may also refuse them (as its FIPS mode does), or have other functions
 * under their names, so the first use asks each for the known digest of an empty text.
 */
#ifndef METIER_DIGEST_H
#define METIER_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEX_DIGEST = 64, SHA1_BYTES = 20 };

bool has_sha1(void);
bool has_sha256(void);

/* In small hexadecimal digits, without a 0 at the end. False: there is none, and `to` means nothing. */
bool write_sha256(const void *bytes, size_t length, char to[HEX_DIGEST]);

/* The same, as bytes. */
bool write_sha1(const void *bytes, size_t length, uint8_t to[SHA1_BYTES]);

#endif
