import { useState } from 'react'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { TextField } from '../../../ui/TextField.tsx'
import type { NewTerminal } from './useTerminalActions.ts'

type RunCommandDialogProps = {
  sandboxName: string
  /** Rejects with what was wrong. */
  run: (terminal: NewTerminal) => Promise<unknown>
  onClose: () => void
}

/** Mounted while it is open. */
export function RunCommandDialog({ sandboxName, run, onClose }: RunCommandDialogProps) {
  const [command, setCommand] = useState('')
  const [cwd, setCwd] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const cwdError = cwd === '' || cwd.startsWith('/') ? undefined : 'Must be an absolute path.'
  const ready = command.trim() !== '' && cwdError === undefined

  const submit = async () => {
    if (!ready || busy) return
    setBusy(true)
    setFailure(undefined)
    try {
      await run({ command, ...(cwd !== '' && { cwd }) })
      onClose()
    } catch (refusal) {
      setFailure(refusal)
      setBusy(false)
    }
  }

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Run a command"
      description={`In a new terminal in ${sandboxName}.`}
      onSubmit={() => void submit()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy} disabled={!ready}>
            Run
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <TextField
          label="Command"
          monospaced
          placeholder="python3 -i"
          value={command}
          onChange={setCommand}
          autoFocus
        />
        <TextField
          label="Folder"
          monospaced
          hint="Leave empty for the home folder."
          error={cwdError}
          value={cwd}
          onChange={setCwd}
        />
        {failure !== undefined && <ErrorNotice error={failure} />}
      </div>
    </Dialog>
  )
}
