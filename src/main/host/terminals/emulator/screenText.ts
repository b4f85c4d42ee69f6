import type { IBuffer, IBufferLine, IBufferNamespace } from '@xterm/headless'

/** Returns the visible rows, without trailing blanks and trailing empty rows. */
export function readVisibleText(buffer: IBuffer, rows: number): string {
  const lines: string[] = []
  for (let y = buffer.baseY; y < buffer.baseY + rows; y++)
    lines.push(buffer.getLine(y)?.translateToString(true).trimEnd() ?? '')
  return joinWithoutTail(lines)
}

/**
 * Returns the complete scrollback and the screen, with wrapped lines joined. For the alternate screen, the scrollback
 * of the normal screen comes first. The visible rows of the normal screen are excluded until the program leaves the
 * alternate screen.
 */
export function readWholeText({ active, normal }: Pick<IBufferNamespace, 'active' | 'normal'>): string {
  const above = active.type === 'normal' ? [] : [...readLogicalLines(normal, normal.baseY)]
  return joinWithoutTail([...above, ...readLogicalLines(active)].map(({ text }) => text))
}

export type LogicalLine = {
  text: string
  rowAt(offset: number): number
}

/** @param rows limits the number of rows, starting with the oldest */
export function* readLogicalLines(buffer: IBuffer, rows: number = buffer.length): Generator<LogicalLine> {
  let text = ''
  /** Text offsets at which the rows after the first begin. */
  let starts: number[] = []
  for (let y = 0; y < rows; y++) {
    const row = buffer.getLine(y)
    if (!row) continue
    const next = y + 1 < rows ? buffer.getLine(y + 1) : undefined
    if (next?.isWrapped) {
      text += fillRow(row, next)
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

/**
 * Returns the text of a wrapped row. A wide character that does not fit leaves the last cell empty, and that cell is
 * not a blank of the text.
 */
function fillRow(row: IBufferLine, next: IBufferLine): string {
  const last = row.length - 1
  const skipped = row.getCell(last)?.getChars() === '' && next.getCell(0)?.getWidth() === 2
  // The second cell of a wide character is also empty, but has no width.
  return row.translateToString(false, 0, skipped && row.getCell(last)?.getWidth() === 1 ? last : row.length)
}

function joinWithoutTail(lines: string[]): string {
  const end = lines.findLastIndex((line) => line !== '')
  return lines.slice(0, end + 1).join('\n')
}
