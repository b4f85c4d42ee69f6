/** File named in a line of output, with a position in the file. `start` and `end` are offsets in the line. */
export type FileReference = { start: number; end: number; path: string; line: number; column?: number }

/** Maximum number of files per line. A line with more is unlikely to be a list of positions. */
const maxNamed = 8

/**
 * Paths here contain no whitespace, quotes, brackets or colons, because these usually belong to the surrounding text.
 */
const path = String.raw`(?<path>[^\s"'\`<>()[\]{}:,;|]{1,1024})`
const forms = [
  // Python: File "app.py", line 12
  /File "(?<path>[^"]{1,1024})", line (?<line>\d{1,7})/g,
  // TypeScript: app.ts(12,5)
  new RegExp(String.raw`(?<![^\s"'<(\[{])${path}\((?<line>\d{1,7})(?:,(?<column>\d{1,5}))?\)`, 'g'),
  // Other tools: app.c:12:5
  new RegExp(String.raw`(?<![^\s"'\`<(\[{])${path}:(?<line>\d{1,7})(?::(?<column>\d{1,5}))?(?![\w/])`, 'g'),
]

/** Finds files with a line number, in the formats of compilers, test runners and `grep -n`. They may not exist. */
export function findFiles(text: string): FileReference[] {
  const files: FileReference[] = []
  for (const form of forms) {
    for (const match of text.matchAll(form)) {
      const { path: named = '', line, column } = match.groups ?? {}
      const start = match.index
      const end = start + match[0].length
      if (!isName(named) || files.some((file) => start < file.end && file.start < end)) continue
      files.push({
        start,
        end,
        path: named,
        line: Number(line),
        ...(column !== undefined && { column: Number(column) }),
      })
    }
  }
  return files.sort((a, b) => a.start - b.start).slice(0, maxNamed)
}

/** Excludes numbers such as `12:30` and `127.0.0.1:53`. */
function isName(named: string): boolean {
  return /\p{L}/u.test(named) && !named.endsWith('/')
}
