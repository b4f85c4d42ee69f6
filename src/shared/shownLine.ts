/** A program's own words on one line: cut, and without controls or characters that turn or hide others. */
export function shownLine(text: string, most: number): string {
  const line = oneLine(text.slice(0, 4 * most))
  return line.length > most ? `${oneLine(line.slice(0, most - 1))}…` : line
}

function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()
}
