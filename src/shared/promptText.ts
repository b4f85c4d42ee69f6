/** `{{name}}`: letters, digits, spaces, `-` and `_`, optionally surrounded by spaces. */
const variable = /\{\{\s*([\p{L}\p{N}_-](?:[\p{L}\p{N} _-]{0,62}[\p{L}\p{N}_-])?)\s*\}\}/gu

/** Returns the distinct variable names of a prompt in order. */
export function promptVariables(text: string): string[] {
  return [...new Set([...text.matchAll(variable)].flatMap(([, name]) => (name === undefined ? [] : [name])))]
}

/** Replaces variables with their values. Variables without a value are unchanged. Values are not expanded. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(variable, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  )
}
