/** From the `TZID` of a calendar file to a zone that `Intl` knows. Programs write the same zone in several ways. */
import { isZone } from "./zoned-time.ts";

/** What programs from Microsoft write, for zones with many users. */
const WINDOWS_NAMES: Readonly<Record<string, string>> = {
  "AUS Eastern Standard Time": "Australia/Sydney",
  "Central Europe Standard Time": "Europe/Budapest",
  "Central European Standard Time": "Europe/Warsaw",
  "Central Standard Time": "America/Chicago",
  "China Standard Time": "Asia/Shanghai",
  "Eastern Standard Time": "America/New_York",
  "GMT Standard Time": "Europe/London",
  "India Standard Time": "Asia/Kolkata",
  "Mountain Standard Time": "America/Denver",
  "Pacific Standard Time": "America/Los_Angeles",
  "Romance Standard Time": "Europe/Paris",
  "Tokyo Standard Time": "Asia/Tokyo",
  "W. Europe Standard Time": "Europe/Berlin",
};

export function findZone(tzid: string): string | undefined {
  const name = WINDOWS_NAMES[tzid] ?? tzid;
  if (isZone(name)) return name;
  // `/example.org/20260101_1/Europe/Berlin`: the zone stands at the end.
  const words = tzid.split("/").filter((word) => word !== "");
  return [2, 3].map((count) => words.slice(-count).join("/")).find(isZone);
}
