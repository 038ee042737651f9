/**
 * The grammar of Debian package names (Debian Policy, 5.6.1): two or more lower-case letters, digits, `+`, `-` and `.`,
 * the first of them a letter or digit. No version, no architecture, and no `-` at the end, which tells apt to remove.
 */
const PACKAGE_NAME = /^[a-z0-9][a-z0-9+.-]*[a-z0-9+.]$/;
const MAX_LENGTH = 128;

export function isPackageName(text: string): boolean {
  return text.length <= MAX_LENGTH && PACKAGE_NAME.test(text);
}
