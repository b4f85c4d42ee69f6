import { useState } from 'react'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { type CreditTransaction, creditLimits, refundCharge } from '#shared/contract/credits.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { parseCents } from '../creditText.ts'
import { getRefundableCents } from '../history/chargeFacts.ts'
import { useGiving } from './useGiving.ts'

/** Refunds a charge: the full remaining amount unless another one is entered. */
export function RefundDialog({ charge, onClose }: { charge: CreditTransaction; onClose: () => void }) {
  const refund = useGiving(refundCharge)
  const [written, setWritten] = useState('')
  const [note, setNote] = useState('')
  const [wrong, setWrong] = useState<string>()
  const left = getRefundableCents(charge)
  const isAll = written.trim() === ''

  const send = () => {
    const cents = parseCents(written)
    const isWrong = !isAll && (cents === undefined || cents < 1 || cents > left)
    setWrong(isWrong ? `Enter whole cents, at most ${formatUsdCents(Math.floor(left))}, or leave it empty.` : undefined)
    if (isWrong) return false
    const request = {
      transaction_id: charge.id,
      ...(cents !== undefined && { amount_cents: cents }),
      ...(note.trim() !== '' && { note: note.trim() }),
    }
    return refund(request).then(({ amount_cents }) => {
      notify.done(`Refunded ${formatUsdCents(amount_cents)}`)
      onClose()
    })
  }

  return (
    <FormDialog
      title="Refund this charge?"
      description={`${charge.description}: ${formatUsdCents(left)} can be refunded. Refunds appear in the history.`}
      action={isAll ? `Refund ${formatUsdCents(left)}` : 'Refund'}
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label="Amount"
        value={written}
        onChange={(text) => {
          setWritten(text)
          setWrong(undefined)
        }}
        error={wrong}
        hint="Leave empty to refund everything."
        placeholder={formatUsdCents(left).slice(1)}
        inputMode="decimal"
        unit="USD"
      />
      <TextField
        label="Note"
        value={note}
        onChange={setNote}
        hint="Optional. Shown in the history."
        maxLength={creditLimits.noteCharacters}
      />
    </FormDialog>
  )
}
