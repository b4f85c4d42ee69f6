/**
 * Completes unfinished markup at the end of a growing text: `**bold` is rendered bold, and an incomplete link as its
 * text.
 */
export function closeMarks(text: string): string {
  const start = text.lastIndexOf('\n\n') + 1
  const tail = text.slice(start)
  const link = /!?\[([^[\]\n]*)\]\([^()\s]*$/.exec(tail.slice(-2_000))
  if (link) return text.slice(0, text.length - link[0].length) + (link[1] ?? '')
  const ticks = tail.split('`').length - 1
  if (ticks % 2 === 1 && !tail.includes('``')) return `${text}\``
  const strong = tail.split('**').length - 1
  if (strong % 2 === 1) return text.endsWith('**') ? text.slice(0, -2) : `${text.trimEnd()}**`
  return text
}
