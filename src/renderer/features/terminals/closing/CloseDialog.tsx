import { ConfirmDialog } from '../../../ui/ConfirmDialog.tsx'
import type { RunningProgram } from './runningProgram.ts'

type CloseDialogProps = {
  programs: readonly RunningProgram[]
  nameOf: (terminalId: string) => string
  onAnswer: (goesOn: boolean) => void
}

const shown = 5

/** Before terminals are closed in which something runs. */
export function CloseDialog({ programs, nameOf, onAnswer }: CloseDialogProps) {
  const [first] = programs
  if (!first) return null
  const several = programs.length > 1
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onAnswer(false)}
      title={several ? `Close ${programs.length} terminals?` : `Close “${nameOf(first.terminal.session_id)}”?`}
      description={
        <>
          <p>{several ? 'Programs still run in them, and end when they are closed:' : sentenceOf(first)}</p>
          {several && (
            <ul className="mt-2 list-disc pl-4">
              {programs.slice(0, shown).map(({ terminal: { session_id: id }, command }) => (
                <li key={id}>{command === '' ? nameOf(id) : <Command text={command} />}</li>
              ))}
              {programs.length > shown && <li>and {programs.length - shown} more</li>}
            </ul>
          )}
          <p className="mt-2 text-small text-faint">The terminal preferences can turn this question off.</p>
        </>
      }
      confirmLabel={several ? 'Close terminals' : 'Close terminal'}
      onConfirm={async () => onAnswer(true)}
    />
  )
}

function sentenceOf({ command }: RunningProgram) {
  if (command === '') return 'A program may still run in it, and would end.'
  return (
    <>
      <Command text={command} /> still runs in it, and ends when it is closed.
    </>
  )
}

function Command({ text }: { text: string }) {
  return <code className="line-clamp-2 font-mono text-small break-all text-text">{text}</code>
}
