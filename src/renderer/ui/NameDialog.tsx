import { useState } from 'react'
import type { z } from 'zod'
import { SandboxName } from '#shared/contract/sandboxes.ts'
import { FormDialog } from './FormDialog.tsx'
import { TextField } from './TextField.tsx'

type NameDialogProps = {
  title: string
  description?: string
  label?: string
  /** Validates the name. Defaults to the rules for sandbox names. */
  schema?: z.ZodType<string>
  confirmLabel: string
  initial?: string
  placeholder?: string
  hint?: string
  /** Called with the name, which may be empty if `optional`. Rejects with the error to show. */
  onConfirm: (name: string) => Promise<unknown>
  optional?: boolean
  onClose: () => void
}

/** Mount only while open. */
export function NameDialog(props: NameDialogProps) {
  const {
    title,
    description,
    label = 'Name',
    schema = SandboxName,
    confirmLabel,
    initial = '',
    placeholder,
    hint,
    onConfirm,
    optional = false,
    onClose,
  } = props
  const [name, setName] = useState(initial)
  const [wrong, setWrong] = useState<string>()

  const send = () => {
    const issue = optional && name.trim() === '' ? undefined : schema.safeParse(name).error?.issues[0]
    setWrong(issue && `The ${label.toLowerCase()} ${issue.message}.`)
    return issue ? false : confirmed()
  }
  const confirmed = async () => {
    await onConfirm(name.trim())
    onClose()
  }

  return (
    <FormDialog
      title={title}
      {...(description !== undefined && { description })}
      action={confirmLabel}
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label={label}
        value={name}
        onChange={setName}
        error={wrong}
        hint={hint}
        placeholder={placeholder}
        onFocus={(event) => event.target.select()}
        autoFocus
      />
    </FormDialog>
  )
}
