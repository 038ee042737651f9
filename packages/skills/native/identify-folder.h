/*
 * What a folder contains, as `identifyFolder` of `content-identity.ts` sees it. Anything unusual is left to JavaScript, which
 * also says what is wrong.
 */
#ifndef METIER_IDENTIFY_FOLDER_H
#define METIER_IDENTIFY_FOLDER_H

#include "text.h"

typedef struct {
  size_t entries, bytes;
} identity_limits;

/*
 * Adds a line for each file, in any order: its stamp, the digest of its content and its path, with tabs between them. Returns
 * whether there is nothing but files and folders with usual names, within the limits, and nobody changed a file meanwhile.
 */
bool identify_folder(const char *folder, identity_limits limits, text *lines);

#endif
