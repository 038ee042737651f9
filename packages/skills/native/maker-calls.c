/*
 * Ties a thread that makes a tree to JavaScript. While it has work, it keeps the process and its handle alive; otherwise
 * neither. It ends when it is closed, when its handle is collected, and with Node's own environment.
 */
#include "maker-calls.h"

#include <stdlib.h>

#include "make-tree.h"

typedef struct {
  napi_env env;
  making *task; /* NULL: closed */
  napi_threadsafe_function answer;
  napi_ref handle;
  size_t given;
  bool is_busy, has_failed;
  int users; /* the handle and the function above: the last one frees it */
} held_maker;

static void leave(held_maker *held) {
  if (--held->users == 0) free(held);
}

/* Called on the thread. */
static void tell_answer(void *given) {
  napi_call_threadsafe_function(((held_maker *)given)->answer, NULL, napi_tsfn_nonblocking);
}

static void set_busy(held_maker *held, bool is_busy) {
  if (held->is_busy == is_busy) return;
  held->is_busy = is_busy;
  uint32_t count;
  if (is_busy) {
    napi_ref_threadsafe_function(held->env, held->answer);
    napi_reference_ref(held->env, held->handle, &count);
  } else {
    napi_unref_threadsafe_function(held->env, held->answer);
    napi_reference_unref(held->env, held->handle, &count);
  }
}

/* The thread is gone before the function that it calls. */
static void end_work(void *given) {
  held_maker *held = given;
  if (held->task == NULL) return;
  end_making(held->task);
  held->task = NULL;
  napi_release_threadsafe_function(held->answer, napi_tsfn_abort);
}

static void close_held(held_maker *held) {
  if (held->task == NULL) return;
  set_busy(held, false);
  napi_remove_env_cleanup_hook(held->env, end_work, held);
  end_work(held);
}

static void drop_handle(napi_env env, void *given, void *hint) {
  (void)hint;
  held_maker *held = given;
  close_held(held);
  if (held->handle != NULL) napi_delete_reference(env, held->handle);
  leave(held);
}

static void drop_answer(napi_env env, void *given, void *hint) {
  (void)env, (void)hint;
  leave(given);
}

/* Nobody catches what a listener throws, as with an event. */
static void pass_exception(napi_env env) {
  napi_value thrown;
  bool is_pending = false;
  if (napi_is_exception_pending(env, &is_pending) != napi_ok || !is_pending) return;
  if (napi_get_and_clear_last_exception(env, &thrown) == napi_ok) napi_fatal_exception(env, thrown);
}

static bool make_text(napi_env env, const char *from, napi_value *to) {
  return napi_create_string_utf8(env, from == NULL ? "" : from, NAPI_AUTO_LENGTH, to) == napi_ok;
}

static void pass_answer(napi_env env, napi_value listener, void *context, void *data) {
  (void)data;
  held_maker *held = context;
  if (env == NULL || held->task == NULL) return;
  making_state state = see_made(held->task);
  napi_value answer[6], nobody;
  bool is_made = napi_create_int64(env, (int64_t)state.made, &answer[0]) == napi_ok &&
                 napi_get_boolean(env, state.is_as_told, &answer[1]) == napi_ok &&
                 napi_create_int32(env, state.fault, &answer[2]) == napi_ok && make_text(env, state.call, &answer[3]) &&
                 make_text(env, state.path, &answer[4]) && make_text(env, state.target, &answer[5]) &&
                 napi_get_undefined(env, &nobody) == napi_ok;
  held->has_failed = state.fault != 0;
  if (state.made == held->given || held->has_failed) set_busy(held, false);
  if (is_made) napi_call_function(env, nobody, listener, sizeof answer / sizeof *answer, answer, NULL);
  pass_exception(env);
}

napi_value open_maker(napi_env env, napi_callback_info info) {
  napi_value listener, name, handle;
  size_t count = 1;
  if (napi_get_cb_info(env, info, &count, &listener, NULL, NULL) != napi_ok || count != 1 ||
      !make_text(env, "metier-maker", &name))
    return NULL;
  held_maker *held = calloc(1, sizeof *held);
  if (held == NULL) return NULL;
  held->env = env;
  held->users = 1;
  if (napi_create_threadsafe_function(env, listener, NULL, name, 0, 1, held, drop_answer, held, pass_answer,
                                      &held->answer) != napi_ok) {
    free(held);
    return NULL;
  }
  napi_unref_threadsafe_function(env, held->answer);
  held->task = start_making(tell_answer, held);
  if (held->task == NULL) {
    napi_release_threadsafe_function(held->answer, napi_tsfn_abort);
    return NULL;
  }
  /* Hooks run in the opposite order: this one before the end of the function that the thread calls. */
  bool is_tied = napi_add_env_cleanup_hook(env, end_work, held) == napi_ok &&
                 napi_create_external(env, held, drop_handle, NULL, &handle) == napi_ok;
  if (!is_tied) {
    close_held(held);
    return NULL;
  }
  held->users++;
  if (napi_create_reference(env, handle, 0, &held->handle) == napi_ok) return handle;
  close_held(held);
  return NULL;
}

napi_value add_batch(napi_env env, napi_callback_info info) {
  napi_value arguments[3], answer;
  size_t count = 3, room;
  void *held_by, *bytes;
  uint32_t length;
  napi_typedarray_type type;
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok || count != 3 ||
      napi_get_value_external(env, arguments[0], &held_by) != napi_ok ||
      napi_get_typedarray_info(env, arguments[1], &type, &room, &bytes, NULL, NULL) != napi_ok ||
      napi_get_value_uint32(env, arguments[2], &length) != napi_ok || type != napi_uint8_array || length > room)
    return NULL;
  held_maker *held = held_by;
  if (held->task == NULL || !give_batch(held->task, bytes, length)) return NULL;
  held->given++;
  set_busy(held, !held->has_failed);
  return napi_get_boolean(env, true, &answer) == napi_ok ? answer : NULL;
}

napi_value close_maker(napi_env env, napi_callback_info info) {
  napi_value handle;
  size_t count = 1;
  void *held;
  if (napi_get_cb_info(env, info, &count, &handle, NULL, NULL) == napi_ok && count == 1 &&
      napi_get_value_external(env, handle, &held) == napi_ok)
    close_held(held);
  return NULL;
}
