/** Statement with positional parameters, as PostgreSQL takes them. `names[0]` is `$1`. */
export type PositionalStatement = { text: string; names: readonly string[] }

/** String, quoted name, dollar-quoted string, comment, or named parameter. `@>` and `@@` are operators. */
const tokens = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|@([A-Za-z_]\w*)/g

/** Replaces `@name` with `$1`, `$2`, …. A repeated name keeps its number. */
export function toPositional(named: string): PositionalStatement {
  const names: string[] = []
  const text = named.replace(tokens, (token: string, _tag: unknown, name: string | undefined) => {
    if (name === undefined) return token
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text, names }
}
