import { useState } from 'react'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { NewTerminal } from './useTerminalActions.ts'

type RunCommandDialogProps = {
  sandboxName: string
  /** Rejects with the error for the dialog to show. */
  run: (terminal: NewTerminal) => Promise<unknown>
  onClose: () => void
}

/** Mount only while open. */
export function RunCommandDialog({ sandboxName, run, onClose }: RunCommandDialogProps) {
  const [command, setCommand] = useState('')
  const [cwd, setCwd] = useState('')
  const cwdError = cwd === '' || cwd.startsWith('/') ? undefined : 'Must be an absolute path.'
  const ready = command.trim() !== '' && cwdError === undefined

  const send = async () => {
    await run({ command, ...(cwd !== '' && { cwd }) })
    onClose()
  }

  return (
    <FormDialog
      title="Run a command"
      description={`In a new terminal in ${sandboxName}.`}
      width="medium"
      action="Run"
      ready={ready}
      onSend={send}
      onClose={onClose}
    >
      <TextField label="Command" monospaced placeholder="python3 -i" value={command} onChange={setCommand} autoFocus />
      <TextField
        label="Folder"
        monospaced
        hint="Leave empty for the home folder."
        error={cwdError}
        value={cwd}
        onChange={setCwd}
      />
    </FormDialog>
  )
}
