export type Lines = { text: string; lines: readonly string[] }

export const noLines: Lines = { text: '', lines: [] }

/**
 * Splits `text` into lines. The first `unchanged` lines equal those of `before`. If the text only grew, earlier lines
 * are neither split nor compared again.
 */
export function growLines(before: Lines, text: string): Lines & { unchanged: number } {
  const last = before.lines.at(-1)
  if (last !== undefined && text.startsWith(before.text)) {
    const added = text.slice(before.text.length - last.length).split('\n')
    const lines = [...before.lines.slice(0, -1), ...added]
    return { text, lines, unchanged: before.lines.length - (added[0] === last ? 0 : 1) }
  }
  const lines = text.split('\n')
  let unchanged = 0
  while (unchanged < lines.length && lines[unchanged] === before.lines[unchanged]) unchanged++
  return { text, lines, unchanged }
}
