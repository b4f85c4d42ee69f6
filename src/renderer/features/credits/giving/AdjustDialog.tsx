import { useState } from 'react'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { adjustCredits, creditLimits } from '#shared/contract/credits.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { formatChange, parseCents } from '../creditText.ts'
import { useCreditBalance } from '../useCredits.ts'
import { OwnerOnly } from './OwnerOnly.tsx'
import { useGiving } from './useGiving.ts'

const title = 'Adjust balance'

/**
 * Sets the owner's own balance. Sends the difference rather than the balance, so that concurrent charges are not lost.
 */
export function AdjustDialog({ isOwner, onClose }: { isOwner: boolean; onClose: () => void }) {
  const { data } = useCreditBalance()
  const adjust = useGiving(adjustCredits)
  const [written, setWritten] = useState('')
  const [note, setNote] = useState('')
  const [wrong, setWrong] = useState<{ balance?: string; note?: string }>({})

  if (!isOwner) return <OwnerOnly title={title} onClose={onClose} />
  const cents = parseCents(written)
  const change = cents === undefined || !data ? undefined : cents - data.balance_cents

  const send = () => {
    const balance = data && validateBalance(cents, data)
    const noted = adjustCredits.body.shape.note.safeParse(note)
    setWrong({
      ...(balance !== undefined && { balance }),
      ...(!noted.success && { note: `Enter a short reason, at most ${creditLimits.noteCharacters} characters.` }),
    })
    if (!data || balance !== undefined || !noted.success || change === undefined) return false
    return adjust({ amount_cents: change, note: noted.data }).then(({ balance_after_cents }) => {
      notify.done(`Balance is now ${formatUsdCents(Math.floor(balance_after_cents))}`)
      onClose()
    })
  }

  return (
    <FormDialog
      title={title}
      description="Sets how much requests can still cost. No money moves. The change appears in the history."
      action="Set balance"
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label="New balance"
        value={written}
        onChange={(text) => {
          setWritten(text)
          setWrong({ ...(wrong.note !== undefined && { note: wrong.note }) })
        }}
        error={wrong.balance}
        hint={describeChange(data?.balance_cents, change)}
        placeholder="10.00"
        inputMode="decimal"
        unit="USD"
      />
      <TextField
        label="Reason"
        value={note}
        onChange={(text) => {
          setNote(text)
          setWrong({ ...(wrong.balance !== undefined && { balance: wrong.balance }) })
        }}
        error={wrong.note}
        placeholder="Limit for this week"
        maxLength={creditLimits.noteCharacters}
      />
    </FormDialog>
  )
}

function describeChange(balance: number | undefined, change: number | undefined): string {
  if (balance === undefined) return 'Loading your balance…'
  const now = `Now ${formatUsdCents(balance)}`
  return change === undefined || change === 0 ? `${now}.` : `${now}, changes by ${formatChange(change)}.`
}

function validateBalance(
  cents: number | undefined,
  { balance_cents: balance, held_cents: onHold }: { balance_cents: number; held_cents: number },
): string | undefined {
  if (cents === undefined) return 'Enter dollars and cents, such as 10.00.'
  if (cents === balance) return 'This is your current balance.'
  if (cents < onHold) return `Running requests hold ${formatUsdCents(onHold)}. Enter at least that.`
  if (Math.abs(cents - balance) > creditLimits.amountCents.max) return 'Change it by at most $1,000,000 at a time.'
  return undefined
}
