/**
 * Formats untrusted text as one line: truncated, without control characters and without characters that reorder or hide
 * others.
 */
export function sanitizeLine(text: string, max: number): string {
  const line = toOneLine(text.slice(0, 4 * max))
  return line.length > max ? `${toOneLine(line.slice(0, max - 1))}…` : line
}

function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}
