/** The names people give operating systems → the name `process.platform` has for it. */
const PLATFORMS: Readonly<Record<string, string>> = {
  macos: "darwin",
  "mac os": "darwin",
  "mac os x": "darwin",
  mac: "darwin",
  osx: "darwin",
  "os x": "darwin",
  darwin: "darwin",
  windows: "win32",
  win: "win32",
  win32: "win32",
  win64: "win32",
  linux: "linux",
  "gnu/linux": "linux",
};

/** An unknown name stays as it is, in lower case: it matches only a platform of just that name. */
export function normalisePlatform(name: string): string {
  const key = name.trim().toLowerCase();
  return Object.hasOwn(PLATFORMS, key) ? (PLATFORMS[key] ?? key) : key;
}
