import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { CommandText } from './CommandText.tsx'
import type { RunningProgram } from './runningProgram.ts'

type CloseDialogProps = {
  programs: readonly RunningProgram[]
  getLabel: (terminalId: string) => string
  onAnswer: (goesOn: boolean) => void
}

const maxListed = 5

/** Asks for confirmation before terminals with running programs are closed. */
export function CloseDialog({ programs, getLabel, onAnswer }: CloseDialogProps) {
  const [first] = programs
  if (!first) return null
  const several = programs.length > 1
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onAnswer(false)}
      title={several ? `Close ${programs.length} terminals?` : `Close “${getLabel(first.terminal.session_id)}”?`}
      description={
        <>
          <p>
            {several ? 'These programs are still running. Closing the terminals ends them:' : describeProgram(first)}
          </p>
          {several && (
            <ul className="mt-2 list-disc pl-4">
              {programs.slice(0, maxListed).map(({ terminal: { session_id: id }, command }) => (
                <li key={id}>{command === '' ? getLabel(id) : <CommandText text={command} />}</li>
              ))}
              {programs.length > maxListed && <li>and {programs.length - maxListed} more</li>}
            </ul>
          )}
          <p className="mt-2 text-small text-faint">You can turn this off in Terminal preferences.</p>
        </>
      }
      confirmLabel={several ? 'Close terminals' : 'Close terminal'}
      onConfirm={async () => onAnswer(true)}
    />
  )
}

function describeProgram({ command }: RunningProgram) {
  if (command === '') return 'A program may still be running. Closing the terminal ends it.'
  return (
    <>
      <CommandText text={command} /> is still running. Closing the terminal ends it.
    </>
  )
}
