/*
 * The second thread of a listing without JavaScript: it needs no time to start, no compiler and no garbage collector.
 * `native-thread.ts` calls these functions. Each gives `undefined` where it cannot do its work. In the same file are the thread
 * that makes trees for an installation (`maker-calls.h`), what reads a pack for one (`unpack-object.h`), and what identifies
 * files and folders.
 */
#define NAPI_VERSION 8
#include <node_api.h>

#include "check-stamps.h"
#include "digest.h"
#include "fetch-folders.h"
#include "identify-folder.h"
#include "maker-calls.h"
#include "unpack-object.h"

typedef struct {
  checking *task;
  napi_ref bytes;
} held_check;

static bool take_arguments(napi_env env, napi_callback_info info, size_t wanted, napi_value *arguments) {
  size_t count = wanted;
  return napi_get_cb_info(env, info, &count, arguments, NULL, NULL) == napi_ok && count == wanted;
}

/* A copy that ends in two 0, as a list of names does; NULL for what is no text. */
static char *take_string(napi_env env, napi_value value) {
  size_t length;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) return NULL;
  char *copy = calloc(length + 2, 1);
  if (copy != NULL && napi_get_value_string_utf8(env, value, copy, length + 1, &length) == napi_ok) return copy;
  free(copy);
  return NULL;
}

static void drop_fetching(napi_env env, void *task, void *hint) {
  (void)env, (void)hint;
  end_fetching(task);
}

/* readAhead(root, folders, skipped, withHeads): lists of names are texts in which each name ends in a 0. */
static napi_value read_ahead(napi_env env, napi_callback_info info) {
  napi_value arguments[4], handle;
  fetch_work work;
  if (!take_arguments(env, info, 4, arguments)) return NULL;
  if (napi_get_value_bool(env, arguments[3], &work.with_heads) != napi_ok) return NULL;
  work.root = take_string(env, arguments[0]);
  work.folders = take_string(env, arguments[1]);
  work.skipped = take_string(env, arguments[2]);
  fetching *task = work.root && work.folders && work.skipped ? start_fetching(work) : NULL;
  if (task == NULL) {
    free(work.root);
    free(work.folders);
    free(work.skipped);
    return NULL;
  }
  if (napi_create_external(env, task, drop_fetching, NULL, &handle) == napi_ok) return handle;
  end_fetching(task);
  return NULL;
}

static bool add_text(napi_env env, napi_value list, uint32_t at, const text *from) {
  napi_value value;
  const char *bytes = from->at == NULL ? "" : from->at;
  return napi_create_string_utf8(env, bytes, from->length, &value) == napi_ok &&
         napi_set_element(env, list, at, value) == napi_ok;
}

/* takeBatch(handle, number): its lines and its heads. */
static napi_value take_fetched(napi_env env, napi_callback_info info) {
  napi_value arguments[2], list;
  void *task;
  uint32_t number;
  if (!take_arguments(env, info, 2, arguments) || napi_get_value_external(env, arguments[0], &task) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &number) != napi_ok)
    return NULL;
  batch taken = take_batch(task, number);
  bool is_made = napi_create_array_with_length(env, 2, &list) == napi_ok && add_text(env, list, 0, &taken.lines) &&
                 add_text(env, list, 1, &taken.heads);
  drop_batch(&taken);
  return is_made ? list : NULL;
}

static void drop_check(napi_env env, void *given, void *hint) {
  (void)hint;
  held_check *held = given;
  end_checking(held->task);
  napi_delete_reference(env, held->bytes);
  free(held);
}

/* checkStamps(root, index, start, end, settledMs): the entries are the bytes of the index from `start` to `end`. */
static napi_value check_stamps(napi_env env, napi_callback_info info) {
  napi_value arguments[5], handle;
  void *bytes;
  size_t length;
  uint32_t start, end;
  int64_t settled_ms;
  if (!take_arguments(env, info, 5, arguments) ||
      napi_get_arraybuffer_info(env, arguments[1], &bytes, &length) != napi_ok ||
      napi_get_value_uint32(env, arguments[2], &start) != napi_ok ||
      napi_get_value_uint32(env, arguments[3], &end) != napi_ok ||
      napi_get_value_int64(env, arguments[4], &settled_ms) != napi_ok || start > end || end > length)
    return NULL;
  held_check *held = calloc(1, sizeof *held);
  char *root = take_string(env, arguments[0]);
  check_work work = {root, (const char *)bytes + start, end - start, settled_ms};
  if (held == NULL || root == NULL || napi_create_reference(env, arguments[1], 1, &held->bytes) != napi_ok) {
    free(root);
    free(held);
    return NULL;
  }
  held->task = start_checking(work);
  if (held->task == NULL) {
    napi_delete_reference(env, held->bytes);
    free(root);
    free(held);
    return NULL;
  }
  if (napi_create_external(env, held, drop_check, NULL, &handle) == napi_ok) return handle;
  drop_check(env, held, NULL);
  return NULL;
}

/* areUnchanged(handle): waits until it is known. */
static napi_value tell_unchanged(napi_env env, napi_callback_info info) {
  napi_value handle, answer;
  void *held;
  if (!take_arguments(env, info, 1, &handle) || napi_get_value_external(env, handle, &held) != napi_ok) return NULL;
  bool is_same = are_unchanged(((held_check *)held)->task);
  return napi_get_boolean(env, is_same, &answer) == napi_ok ? answer : NULL;
}

/* identifyFolder(folder, entries, bytes): within these limits. */
static napi_value tell_identity(napi_env env, napi_callback_info info) {
  napi_value arguments[3], answer = NULL;
  int64_t entries, bytes;
  if (!take_arguments(env, info, 3, arguments) || napi_get_value_int64(env, arguments[1], &entries) != napi_ok ||
      napi_get_value_int64(env, arguments[2], &bytes) != napi_ok || entries < 0 || bytes < 0)
    return NULL;
  char *folder = take_string(env, arguments[0]);
  if (folder == NULL) return NULL;
  text lines = {0};
  identity_limits limits = {(size_t)entries, (size_t)bytes};
  bool is_known = identify_folder(folder, limits, &lines);
  if (is_known) is_known = napi_create_string_latin1(env, lines.at == NULL ? "" : lines.at, lines.length, &answer) == napi_ok;
  drop(&lines);
  free(folder);
  return is_known ? answer : NULL;
}

/* sha256(bytes): in hexadecimal digits */
static napi_value tell_digest(napi_env env, napi_callback_info info) {
  napi_value bytes, answer;
  napi_typedarray_type type;
  size_t length;
  void *from;
  if (!take_arguments(env, info, 1, &bytes) ||
      napi_get_typedarray_info(env, bytes, &type, &length, &from, NULL, NULL) != napi_ok || type != napi_uint8_array)
    return NULL;
  char digest[HEX_DIGEST];
  if (!write_sha256(from == NULL ? "" : from, length, digest)) return NULL;
  return napi_create_string_latin1(env, digest, sizeof digest, &answer) == napi_ok ? answer : NULL;
}

NAPI_MODULE_INIT() {
  const struct {
    const char *name;
    napi_callback call;
  } functions[] = {
      {"readAhead", read_ahead},
      {"takeBatch", take_fetched},
      {"checkStamps", check_stamps},
      {"areUnchanged", tell_unchanged},
      {"openMaker", open_maker},
      {"addBatch", add_batch},
      {"closeMaker", close_maker},
      {"unpackObject", can_unpack() ? unpack_object : NULL},
      {"identifyFolder", has_sha256() ? tell_identity : NULL},
      {"sha256", has_sha256() ? tell_digest : NULL},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    napi_value function;
    const char *name = functions[i].name;
    if (functions[i].call == NULL) continue;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, functions[i].call, NULL, &function) != napi_ok ||
        napi_set_named_property(env, exports, name, function) != napi_ok)
      return NULL;
  }
  return exports;
}
