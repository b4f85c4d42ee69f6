import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NumberField } from '#renderer/ui/NumberField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import type { DomainRenewal, RenewalSettings } from '#shared/contract/domainRenewals.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { parseRenewal, renewalRanges, suggestMaxPrice, toRenewalForm } from './renewalForm.ts'
import { formatYears } from './renewalLabels.ts'

type RenewalDialogProps = {
  /** Domain name, or the number of domains. */
  name: string
  present: DomainRenewal | undefined
  /** List price of one year; undefined if unknown or not uniform. */
  yearMicroUsd: number | undefined
  onSave: (settings: RenewalSettings) => Promise<void>
  onClose: () => void
}

/** Settings for automatic renewal: days before expiry, years and maximum price. */
export function RenewalDialog({ name, present, yearMicroUsd, onSave, onClose }: RenewalDialogProps) {
  const [form, setForm] = useState(() => toRenewalForm(present, yearMicroUsd))
  const [isTried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const written = parseRenewal(form)
  const isMaxPriceInvalid = !parseRenewal({ ...form, daysBefore: 1, years: 1 })
  const price = yearMicroUsd === undefined ? undefined : yearMicroUsd * form.years
  const save = async () => {
    setTried(true)
    if (!written || busy) return
    setBusy(true)
    setError(undefined)
    try {
      await onSave(written)
      onClose()
    } catch (error) {
      setError(error)
      setBusy(false)
    }
  }
  const setYears = (years: number) => {
    const isSuggested = price !== undefined && form.maxPrice === suggestMaxPrice(price)
    const next = yearMicroUsd === undefined || Number.isNaN(years) ? undefined : suggestMaxPrice(yearMicroUsd * years)
    setForm({ ...form, years, maxPrice: isSuggested && next !== undefined ? next : form.maxPrice })
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title={`Auto-renew ${name}`}
      description="Pays from your wallet, within your payment limits. Your policies decide if it needs your approval."
      staysOpen
      onSubmit={() => void save()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            {present?.enabled ? 'Save' : 'Turn on auto-renew'}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-2 gap-x-4 gap-y-4 max-narrow:grid-cols-1">
        <NumberField
          label="Renew before expiry"
          unit="days"
          value={form.daysBefore}
          onChange={(daysBefore) => setForm({ ...form, daysBefore })}
          {...renewalRanges.daysBefore}
        />
        <NumberField label="Renew for" unit="years" value={form.years} onChange={setYears} {...renewalRanges.years} />
        <div className="col-span-2 max-narrow:col-span-1">
          <TextField
            label="Price limit"
            unit="USD"
            inputMode="decimal"
            value={form.maxPrice}
            onChange={(maxPrice) => setForm({ ...form, maxPrice })}
            hint={
              price === undefined || Number.isNaN(price)
                ? 'If it costs more, Steward won’t renew and will notify you.'
                : `${formatYears(form.years)} costs ${formatUsd(String(price), 'exact')} now. If it costs more, Steward won’t renew and will notify you.`
            }
            {...(isTried && isMaxPriceInvalid && { error: 'Enter dollars above 0, such as 25 or 12.50.' })}
          />
        </div>
      </div>
      {error !== undefined && (
        <div className="mt-4">
          <ErrorNotice error={error} />
        </div>
      )}
    </Dialog>
  )
}
