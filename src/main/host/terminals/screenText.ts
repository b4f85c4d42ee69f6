import type { IBuffer, IBufferLine } from '@xterm/headless'

/** The rows of the screen as a person sees them, without blanks at the end of rows and without empty rows at the end. */
export function visibleText(buffer: IBuffer, rows: number): string {
  const lines: string[] = []
  for (let y = buffer.baseY; y < buffer.baseY + rows; y++)
    lines.push(buffer.getLine(y)?.translateToString(true).trimEnd() ?? '')
  return withoutTail(lines)
}

/** Everything that is kept, each line as long as the program wrote it however often it was wrapped. */
export function wholeText(buffer: IBuffer): string {
  const lines: string[] = []
  let line = ''
  for (let y = 0; y < buffer.length; y++) {
    const row = buffer.getLine(y)
    if (!row) continue
    const next = buffer.getLine(y + 1)
    if (next?.isWrapped) {
      line += filledRow(row, next)
    } else {
      lines.push((line + row.translateToString(true)).trimEnd())
      line = ''
    }
  }
  return withoutTail(lines)
}

/** A wide character that did not fit leaves the last cell empty: that cell is no blank of the text. */
function filledRow(row: IBufferLine, next: IBufferLine): string {
  const last = row.length - 1
  const skipped = row.getCell(last)?.getChars() === '' && next.getCell(0)?.getWidth() === 2
  // The second half of a wide character is empty as well, but has no width.
  return row.translateToString(false, 0, skipped && row.getCell(last)?.getWidth() === 1 ? last : row.length)
}

function withoutTail(lines: string[]): string {
  const end = lines.findLastIndex((line) => line !== '')
  return lines.slice(0, end + 1).join('\n')
}
