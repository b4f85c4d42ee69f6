/** Renders the unfinished end of a text as it will look: `**bold` is bold already, and half a link is its text. */
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
