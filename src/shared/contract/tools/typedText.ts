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
 * Converts text of a model to terminal input: escapes become their character whether JSON decoded them or they arrived as
 * two characters (`\n`, `\x03`, `\u001b`). `\\` is a backslash; one before any other character stays as it is.
 */
export function parseTypedText(written: string): string {
  return written.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[nrtbfvae0\\])/g, (_, code: string) => {
    const digits = /^[xu](.+)$/.exec(code)?.[1]
    return digits === undefined ? (named[code] ?? code) : String.fromCharCode(Number.parseInt(digits, 16))
  })
}
