import { memo, useMemo } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { escapeHidden, withFewMarks } from '#shared/visibleText.ts'

/** Length in characters. Browsers lay out a chunk only when visible. */
const pieceLength = 8_000

type PlainTextProps = { text: string; className?: string }

/** A text as it was written. A long one is drawn in pieces: while it grows, only the last one changes. */
export function PlainText({ text, className }: PlainTextProps) {
  const pieces = useMemo(() => splitText(text), [text])
  return (
    <div className={joinClassNames('plain-text', className)}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: pieces never move
        <Piece key={index} text={piece} />
      ))}
    </div>
  )
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return <pre dir="auto">{escapeHidden(withFewMarks(text))}</pre>
})

/** Cut at the end of a line or of a word, where there is one. */
export function splitText(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  while (text.length - from > pieceLength) {
    const piece = text.slice(from, from + pieceLength)
    const line = piece.lastIndexOf('\n')
    const cut = line > pieceLength / 2 ? line : piece.lastIndexOf(' ')
    const isHalved = /[\uD800-\uDBFF]$/.test(piece)
    const length = cut > pieceLength / 2 ? cut + 1 : pieceLength - (isHalved ? 1 : 0)
    // The end of a line is the end of its piece.
    pieces.push(text.slice(from, from + length - (cut === line && length === line + 1 ? 1 : 0)))
    from += length
  }
  pieces.push(text.slice(from))
  return pieces
}
