/*
 * SHA-256 and SHA-1 of the Node that loads this file: loading `node:crypto` takes as long as a thousand digests. A Node may
 * hide them, refuse them (as its FIPS mode does), or have other functions under their names. So nothing that needs them is
 * exported unless they give the known digest of an empty text.
 */
#ifndef METIER_DIGEST_H
#define METIER_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEX_DIGEST = 64, SHA1_BYTES = 20 };

bool can_digest(void);
bool can_digest_sha1(void);

/* In small hexadecimal digits, without a 0 at the end. False: the host refused, and `to` means nothing. */
bool write_digest(const void *bytes, size_t length, char to[HEX_DIGEST]);

/* The same, as bytes. */
bool write_sha1(const void *bytes, size_t length, uint8_t to[SHA1_BYTES]);

#endif
