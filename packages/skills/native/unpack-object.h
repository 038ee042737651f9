/*
 * Decompresses one object of a git pack and gives its id, for `unpack-object.ts` of `@metier/install`. zlib and SHA-1 are those
 * of the Node that loads this file; where it hides them, the function is not exported.
 */
#ifndef METIER_UNPACK_OBJECT_H
#define METIER_UNPACK_OBJECT_H

#define NAPI_VERSION 8
#include <node_api.h>
#include <stdbool.h>

bool can_unpack(void);

/*
 * unpackObject(from, kind, to): how many bytes of `from` the object took, 0 if there must be more, or -1 if this is no object
 * of that size or its id cannot be told. `to` has 20 bytes for the id, 20 for the object's header, and as many as the content
 * should have. The kind is the number that packs use; 0: it gets neither header nor id.
 */
napi_value unpack_object(napi_env env, napi_callback_info info);

#endif
