const named: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  a: '\x07',
  e: '\x1b',
  '0': '\0',
  '\\': '\\',
}

/**
 * Converts text from a model to terminal input. Handles escapes decoded by JSON and escapes as two characters (`\n`,
 * `\x03`, `\u001b`). `\\` is a backslash; before any other character, a backslash is literal.
 */
export function parseTypedText(written: string): string {
  return written.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[nrtbfvae0\\])/g, (_, code: string) => {
    const digits = /^[xu](.+)$/.exec(code)?.[1]
    return digits === undefined ? (named[code] ?? code) : String.fromCharCode(Number.parseInt(digits, 16))
  })
}
