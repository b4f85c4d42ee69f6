import { useState } from 'react'
import { Nameservers } from '../../../../shared/contract/domains.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/Dialog.tsx'
import { ErrorNotice } from '../../../ui/ErrorNotice.tsx'
import { TextAreaField } from '../../../ui/TextAreaField.tsx'
import { pastedNames } from '../search/checkedNames.ts'

type NameserversDialogProps = {
  domain: string
  nameservers: readonly string[]
  onClose: () => void
  onSave: (nameservers: string[]) => Promise<unknown>
}

export function NameserversDialog({ domain, nameservers, onClose, onSave }: NameserversDialogProps) {
  const [text, setText] = useState(nameservers.join('\n'))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const parsed = Nameservers.safeParse(pastedNames(text))
  const save = async () => {
    if (!parsed.success || busy) return
    setBusy(true)
    setError(undefined)
    try {
      await onSave(parsed.data)
      onClose()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title={`Nameservers of ${domain}`}
      description="Mail and sites stop working if the new nameservers do not have this domain’s records. The change can take up to two days."
      staysOpen
      onSubmit={() => void save()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy} disabled={!parsed.success}>
            Change nameservers
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextAreaField
          label="Nameservers"
          hint="One per line, from 2 to 13."
          error={parsed.success ? undefined : `Nameservers ${parsed.error.issues[0]?.message}.`}
          value={text}
          onChange={setText}
          rows={5}
          monospaced
        />
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}
