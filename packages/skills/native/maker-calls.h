/* The functions of the addon that make a tree: `native-maker.ts` of `@metier/install` calls them. */
#ifndef METIER_MAKER_CALLS_H
#define METIER_MAKER_CALLS_H

#define NAPI_VERSION 8
#include <node_api.h>

/* openMaker(onAnswer): a handle. Answers are (made, isAsTold, fault, call, path, target). */
napi_value open_maker(napi_env env, napi_callback_info info);

/* addBatch(handle, bytes, length): `true` if it is copied. */
napi_value add_batch(napi_env env, napi_callback_info info);

/* closeMaker(handle): nothing more is made, and nothing more is answered. */
napi_value close_maker(napi_env env, napi_callback_info info);

#endif
