/** The JSON object in a model's answer: models put it into code blocks, or say something around it. */

export function findJson(text: string): unknown {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1];
  const braces = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  for (const candidate of [text, fenced, braces]) {
    if (candidate === undefined || !candidate.includes("{")) continue;
    try {
      const value: unknown = JSON.parse(candidate);
      if (typeof value === "object" && value !== null) return value;
    } catch {
      // Another part of the text may be it.
    }
  }
  return undefined;
}
