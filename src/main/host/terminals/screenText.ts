import type { IBuffer, IBufferLine, IBufferNamespace } from '@xterm/headless'

/** The rows of the screen as a person sees them, without blanks at the end of rows and without empty rows at the end. */
export function visibleText(buffer: IBuffer, rows: number): string {
  const lines: string[] = []
  for (let y = buffer.baseY; y < buffer.baseY + rows; y++)
    lines.push(buffer.getLine(y)?.translateToString(true).trimEnd() ?? '')
  return withoutTail(lines)
}

/**
 * Everything that is kept, each line as long as the program wrote it however often it was wrapped. While a program fills
 * the screen, what scrolled out of the normal one stands above: what that one shows comes back only afterwards.
 */
export function wholeText({ active, normal }: Pick<IBufferNamespace, 'active' | 'normal'>): string {
  const above = active.type === 'normal' ? [] : [...logicalLines(normal, normal.baseY)]
  return withoutTail([...above, ...logicalLines(active)].map(({ text }) => text))
}

export type LogicalLine = {
  text: string
  /** The row of the buffer that holds the character at `offset`. */
  rowAt(offset: number): number
}

/** @param rows so many of the oldest rows, cut there */
export function* logicalLines(buffer: IBuffer, rows: number = buffer.length): Generator<LogicalLine> {
  let text = ''
  /** Where each further row of the line begins in its text. */
  let starts: number[] = []
  for (let y = 0; y < rows; y++) {
    const row = buffer.getLine(y)
    if (!row) continue
    const next = y + 1 < rows ? buffer.getLine(y + 1) : undefined
    if (next?.isWrapped) {
      text += filledRow(row, next)
      starts.push(text.length)
    } else {
      const [first, ends] = [y - starts.length, starts]
      const rowAt = (offset: number) => first + ends.filter((start) => start <= offset).length
      yield { text: (text + row.translateToString(true)).trimEnd(), rowAt }
      text = ''
      starts = []
    }
  }
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
