import { memo, useMemo } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { escapeHidden, withFewMarks } from '#shared/untrustedText.ts'

/** Length of a chunk in characters. Browsers lay out a chunk only when it is visible. */
const chunkLength = 8_000

type PlainTextProps = { text: string; className?: string }

/** Verbatim text. Long texts are rendered in chunks, so that only the last chunk changes while the text grows. */
export function PlainText({ text, className }: PlainTextProps) {
  const pieces = useMemo(() => splitText(text), [text])
  return (
    <div className={joinClassNames('plain-text', className)}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: chunks keep their order
        <Chunk key={index} text={piece} />
      ))}
    </div>
  )
}

const Chunk = memo(function Piece({ text }: { text: string }) {
  return <pre dir="auto">{escapeHidden(withFewMarks(text))}</pre>
})

/** Splits a text into chunks, at the end of a line or word if possible. */
export function splitText(text: string): string[] {
  const pieces: string[] = []
  let from = 0
  while (text.length - from > chunkLength) {
    const piece = text.slice(from, from + chunkLength)
    const line = piece.lastIndexOf('\n')
    const cut = line > chunkLength / 2 ? line : piece.lastIndexOf(' ')
    const isHalved = /[\uD800-\uDBFF]$/.test(piece)
    const length = cut > chunkLength / 2 ? cut + 1 : chunkLength - (isHalved ? 1 : 0)
    // A line break at the end of a chunk is omitted, because chunks are block elements.
    pieces.push(text.slice(from, from + length - (cut === line && length === line + 1 ? 1 : 0)))
    from += length
  }
  pieces.push(text.slice(from))
  return pieces
}
