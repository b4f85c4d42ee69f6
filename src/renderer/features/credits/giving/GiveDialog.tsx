import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { creditLimits, grantCredits, transferCredits } from '#shared/contract/credits.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { parseCents } from '../creditText.ts'
import { OwnerOnly } from './OwnerOnly.tsx'
import { useGiving } from './useGiving.ts'

type GiveDialogProps = {
  kind: 'grant' | 'transfer'
  /** Account to which the owner may grant credits. */
  ownId: string
  isOwner: boolean
  onClose: () => void
}

const words = {
  grant: {
    title: 'Grant credits',
    description: 'New credits for an account of this service.',
    verb: 'Grant',
    done: 'Granted',
  },
  transfer: {
    title: 'Transfer credits',
    description: 'From your balance to another account of this service.',
    verb: 'Transfer',
    done: 'Transferred',
  },
} as const

type Wrong = { to?: string; amount?: string; note?: string }

/** Asks for the recipient and the amount, and for confirmation before it transfers the credits. */
export function GiveDialog({ kind, ownId, isOwner, onClose }: GiveDialogProps) {
  const { title, description, verb, done } = words[kind]
  const [to, setTo] = useState('')
  const [amount, setAmount] = useState('')
  const [note, setNote] = useState('')
  const [wrong, setWrong] = useState<Wrong>({})
  const [isChecked, setChecked] = useState(false)
  const grant = useGiving(grantCredits)
  const transfer = useGiving(transferCredits)
  const give = kind === 'grant' ? grant : transfer
  const cents = parseCents(amount) ?? 0
  /** Clears a field's error while it is edited. */
  const write = (field: keyof Wrong, set: (text: string) => void) => (text: string) => {
    set(text)
    setWrong(({ [field]: _, ...others }) => others)
  }
  const recipient = to.trim()

  if (kind === 'grant' && !isOwner) return <OwnerOnly title={title} onClose={onClose} />

  const send = () => {
    const wrongs = validateGift({ to, amount, note })
    setWrong(wrongs)
    if (Object.keys(wrongs).length > 0) return false
    if (!isChecked) {
      setChecked(true)
      return false
    }
    const request = { to_address: recipient, amount_cents: cents, ...(note.trim() !== '' && { note: note.trim() }) }
    return give(request).then(() => {
      notify.done(`${done} ${formatUsdCents(cents)}`)
      onClose()
    })
  }

  if (isChecked) {
    return (
      <FormDialog
        title={`${verb} ${formatUsdCents(cents)}?`}
        description={kind === 'grant' ? 'Check the recipient.' : 'Check the recipient. You can’t take a transfer back.'}
        action={`${verb} ${formatUsdCents(cents)}`}
        back={{ label: 'Back', run: () => setChecked(false) }}
        onSend={send}
        onClose={onClose}
      >
        <GiftFacts
          recipient={recipient === ownId ? `${recipient} (you)` : recipient}
          cents={cents}
          note={note.trim()}
        />
      </FormDialog>
    )
  }
  return (
    <FormDialog title={title} description={description} action="Continue" onSend={send} onClose={onClose}>
      <TextField
        label="To"
        value={to}
        onChange={write('to', setTo)}
        error={wrong.to}
        hint="A wallet that signed in here, or an account ID."
        placeholder="0x… or acct_…"
        monospaced
      />
      {kind === 'grant' && recipient !== ownId && (
        <Button size="small" variant="ghost" className="-mt-2 self-start" onClick={() => write('to', setTo)(ownId)}>
          Use my account
        </Button>
      )}
      <TextField
        label="Amount"
        value={amount}
        onChange={write('amount', setAmount)}
        error={wrong.amount}
        placeholder="5.00"
        inputMode="decimal"
        unit="USD"
      />
      <TextField
        label="Note"
        value={note}
        onChange={write('note', setNote)}
        error={wrong.note}
        hint="Optional. Shown in both histories."
        maxLength={creditLimits.noteCharacters}
      />
    </FormDialog>
  )
}

function GiftFacts({ recipient, cents, note }: { recipient: string; cents: number; note: string }) {
  return (
    <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1">
      <dt className="text-faint">To</dt>
      <dd className="font-mono text-small leading-5 break-all">{recipient}</dd>
      <dt className="text-faint">Amount</dt>
      <dd className="tabular-nums">{formatUsdCents(cents)}</dd>
      {note !== '' && (
        <>
          <dt className="text-faint">Note</dt>
          <dd className="break-words">{note}</dd>
        </>
      )}
    </dl>
  )
}

function validateGift({ to, amount, note }: { to: string; amount: string; note: string }): Wrong {
  const { to_address, amount_cents, note: asNote } = grantCredits.body.shape
  return {
    ...(!to_address.safeParse(to).success && { to: 'Enter a wallet address or an account ID.' }),
    ...(!amount_cents.safeParse(parseCents(amount) ?? 0).success && { amount: findAmountFault(amount) }),
    ...(!asNote.safeParse(note).success && {
      note: `Use one line of at most ${creditLimits.noteCharacters} characters.`,
    }),
  }
}

export function findAmountFault(written: string): string {
  return written.trim() === '' ? 'Enter an amount.' : 'Enter dollars and cents, from 0.01 to 1000000.'
}
