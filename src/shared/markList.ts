import type { LineAnchor } from './lineAnchors.ts'

/** Shell command with the lines of its marks. */
export type Mark = {
  id: number
  prompt: LineAnchor
  /** Position after the prompt, where the command is typed. */
  input: { marker: LineAnchor; column: number } | undefined
  command: string
  isVerified: boolean
  output: LineAnchor | undefined
  end: { marker: LineAnchor; column: number } | undefined
  exitCode: number | null
}

/** Marks of one terminal, oldest first. Removed marks dispose their anchors. */
export type MarkList = {
  /** Lists the marks whose prompt is still in the buffer, and removes the others. */
  list(): readonly Mark[]
  last(): Mark | undefined
  /** Adds the newest mark. Removes the oldest ones beyond `maxMarks`. */
  add(mark: Omit<Mark, 'id'>): void
  removeLast(): void
  clear(): void
}

export const maxMarks = 500

export function createMarkList(): MarkList {
  let marks: Mark[] = []
  let lastId = 0

  return {
    list() {
      const disposed = marks.filter(({ prompt }) => prompt.isDisposed)
      if (disposed.length > 0) {
        releaseLines(disposed)
        marks = marks.filter(({ prompt }) => !prompt.isDisposed)
      }
      return marks
    },
    last: () => marks.at(-1),
    add(mark) {
      lastId += 1
      marks.push({ id: lastId, ...mark })
      releaseLines(marks.splice(0, Math.max(0, marks.length - maxMarks)))
    },
    removeLast: () => releaseLines(marks.splice(-1)),
    clear: () => releaseLines(marks.splice(0)),
  }
}

function releaseLines(marks: readonly Mark[]): void {
  for (const { prompt, input, output, end } of marks) {
    for (const marker of [prompt, input?.marker, output, end?.marker]) marker?.dispose()
  }
}
