#include "unpack-object.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "digest.h"

#pragma weak inflate
#pragma weak inflateEnd
#pragma weak inflateInit_

enum { ID = SHA1_BYTES, HEADER = 20, INCOMPLETE = 0, UNUSUAL = -1 };

static const char *const KINDS[] = {NULL, "commit", "tree", "blob"};

bool can_unpack(void) { return inflate && inflateEnd && inflateInit_ && has_sha1(); }

static int64_t inflate_all(const uint8_t *from, size_t length, uint8_t *to, size_t size) {
  if (length > UINT_MAX || size > UINT_MAX) return UNUSUAL;
  z_stream stream = {.next_in = (Bytef *)from, .avail_in = (uInt)length, .next_out = to, .avail_out = (uInt)size};
  if (inflateInit(&stream) != Z_OK) return UNUSUAL;
  int status = inflate(&stream, Z_FINISH);
  uInt unread = stream.avail_in, unfilled = stream.avail_out;
  inflateEnd(&stream);
  if (status == Z_STREAM_END) return unfilled == 0 ? (int64_t)(length - unread) : UNUSUAL;
  bool is_cut_off = (status == Z_OK || status == Z_BUF_ERROR) && unread == 0;
  return is_cut_off ? INCOMPLETE : UNUSUAL;
}

/* The id is the digest of the header, which ends where the content starts, and the content. */
static bool identify(const char *kind, uint8_t *to, size_t size) {
  char header[HEADER + 1];
  size_t length = (size_t)snprintf(header, sizeof header, "%s %zu", kind, size) + 1;
  uint8_t *start = to + ID + HEADER - length;
  memcpy(start, header, length);
  return write_sha1(start, length + size, to);
}

napi_value unpack_object(napi_env env, napi_callback_info info) {
  napi_value arguments[3], answer;
  napi_typedarray_type from_type, to_type;
  size_t count = 3, length, room;
  uint32_t kind;
  void *from, *to;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 3 ||
      napi_get_typedarray_info(env, arguments[0], &from_type, &length, &from, NULL, NULL) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &kind) != napi_ok ||
      napi_get_typedarray_info(env, arguments[2], &to_type, &room, &to, NULL, NULL) != napi_ok ||
      from_type != napi_uint8_array || to_type != napi_uint8_array || room < ID + HEADER ||
      kind >= sizeof KINDS / sizeof *KINDS)
    return NULL;
  size_t size = room - ID - HEADER;
  int64_t used = inflate_all(from, length, (uint8_t *)to + ID + HEADER, size);
  if (used > 0 && kind != 0 && !identify(KINDS[kind], to, size)) used = UNUSUAL;
  return napi_create_int64(env, used, &answer) == napi_ok ? answer : NULL;
}
