/** `{{name}}`: letters, digits, spaces, `-` and `_`, with blanks around it. */
const variable = /\{\{\s*([\p{L}\p{N}_-](?:[\p{L}\p{N} _-]{0,62}[\p{L}\p{N}_-])?)\s*\}\}/gu

/** The names that a prompt has in `{{ }}`, each once, in their order. */
export function promptVariables(text: string): string[] {
  return [...new Set([...text.matchAll(variable)].flatMap(([, name]) => (name === undefined ? [] : [name])))]
}

/** Puts values in the place of names; a name without a value stays as it stands. Values are not looked into. */
export function fillPrompt(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(variable, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  )
}
