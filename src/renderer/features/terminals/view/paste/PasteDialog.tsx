import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { useObservable } from '../observable.ts'
import { changePreferences } from '../preferences/preferencesStore.ts'
import type { PasteAnswer, PasteQuestion, TerminalPaste } from './terminalPaste.ts'

const maxLines = 8
const maxUnits = 400

type PasteDialogProps = { paste: TerminalPaste; onAnswered: () => void }

/** Asks for confirmation before several pasted lines run one after another. */
export function PasteDialog({ paste, onAnswered }: PasteDialogProps) {
  const question = useObservable(paste.question)
  if (!question) return null
  return (
    <OpenPasteDialog
      question={question}
      onAnswer={(answer) => {
        paste.answer(answer)
        onAnswered()
      }}
    />
  )
}

type OpenPasteDialogProps = { question: PasteQuestion; onAnswer: (answer: PasteAnswer) => void }

function OpenPasteDialog({ question: { lines }, onAnswer }: OpenPasteDialogProps) {
  const [silent, setSilent] = useState(false)
  const preview = lines.slice(0, maxLines)
  const answer = (choice: PasteAnswer) => {
    if (silent && choice !== 'nothing') changePreferences({ pasteWarning: false })
    onAnswer(choice)
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onAnswer('nothing')}
      title={`Paste ${lines.length.toLocaleString()} lines?`}
      description="This program runs each line as it is pasted."
      onSubmit={() => answer('all')}
      footer={
        <>
          <div className="mr-auto">
            <Checkbox label="Don’t ask again" checked={silent} onChange={setSilent} />
          </div>
          <Button onClick={() => onAnswer('nothing')}>Cancel</Button>
          <Button onClick={() => answer('one-line')}>Paste as one line</Button>
          <Button type="submit" variant="primary" autoFocus>
            Paste
          </Button>
        </>
      }
    >
      <div className="overflow-hidden rounded-control border border-line bg-panel">
        <ol aria-label="Text to paste" className="px-2.5 py-1.5 font-mono text-small text-text">
          {preview.map((line, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines are identified by index
            <li key={place} className="min-h-4 truncate whitespace-pre">
              {line.slice(0, maxUnits)}
            </li>
          ))}
        </ol>
        {lines.length > maxLines && (
          <p className="border-t border-line px-2.5 py-1 text-small text-faint">
            and {(lines.length - maxLines).toLocaleString()} more
          </p>
        )}
      </div>
    </Dialog>
  )
}
