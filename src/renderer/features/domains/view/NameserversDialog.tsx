import { useState } from 'react'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { Nameservers } from '#shared/contract/domains.ts'
import { parseNames } from '../search/nameList.ts'

type NameserversDialogProps = {
  domain: string
  nameservers: readonly string[]
  onClose: () => void
  onSave: (nameservers: string[]) => Promise<unknown>
}

export function NameserversDialog({ domain, nameservers, onClose, onSave }: NameserversDialogProps) {
  const [text, setText] = useState(nameservers.join('\n'))
  const parsed = Nameservers.safeParse(parseNames(text))
  const save = async (changed: string[]) => {
    await onSave(changed)
    onClose()
  }
  return (
    <FormDialog
      title={`Nameservers of ${domain}`}
      description="Mail and sites stop working if the new nameservers don’t have this domain’s records. The change can take up to two days."
      width="medium"
      staysOpen
      action="Change nameservers"
      ready={parsed.success}
      onSend={() => parsed.success && save(parsed.data)}
      onClose={onClose}
    >
      <TextAreaField
        label="Nameservers"
        hint="One per line, from 2 to 13."
        error={parsed.success ? undefined : `Nameservers ${parsed.error.issues[0]?.message}.`}
        value={text}
        onChange={setText}
        rows={5}
        monospaced
      />
    </FormDialog>
  )
}
