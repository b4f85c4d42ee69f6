import { useQueryClient } from '@tanstack/react-query'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useConfirmedChange } from '#renderer/ui/useConfirmedChange.ts'
import { changePaymentBudgets, getPaymentBudgets, type PaymentBudgetLimits } from '#shared/contract/paymentBudgets.ts'
import { budgetsKey } from '../../../api/usePaymentBudgets.ts'
import { type LimitsForm, type NamedLimit, parseLimitsForm, toLimitsForm } from './limitsForm.ts'

type LimitsDialogProps = { limits: PaymentBudgetLimits; onClose: () => void }

export function LimitsDialog({ limits, onClose }: LimitsDialogProps) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const confirmed = useConfirmedChange()
  const [form, setForm] = useState(() => toLimitsForm(limits))
  const [isTried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const written = parseLimitsForm(form)
  const findFault = (field: string) =>
    isTried && 'faults' in written ? written.faults.find((it) => it.field === field)?.message : undefined
  const change = (changed: Partial<LimitsForm>) => setForm({ ...form, ...changed })
  const save = async () => {
    setTried(true)
    if (!('limits' in written) || busy) return
    setBusy(true)
    setError(undefined)
    try {
      await confirmed(
        () => agent(changePaymentBudgets, written.limits),
        () => agent(getPaymentBudgets, {}),
      )
      notify.done('Payment limits saved')
      onClose()
    } catch (error) {
      setError(error)
    } finally {
      setBusy(false)
      void readAgain(queryClient, budgetsKey)
    }
  }
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Payment limits"
      description="Lowering applies now. Raising needs your passphrase. Leave a field empty for no limit."
      width="wide"
      staysOpen
      onSubmit={() => void save()}
      footer={
        <>
          <Button onClick={onClose} disabled={busy}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={busy}>
            Save limits
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        {error !== undefined && <ErrorNotice error={error} />}
        <TotalLimits form={form} onChange={change} findFault={findFault} />
        <NamedLimits
          title="Sites, per month"
          nameLabel="Site"
          placeholder="api.example"
          rows={form.hosts}
          onChange={(hosts) => change({ hosts })}
          faultOf={findFault}
          fault={findFault('hosts')}
        />
        <NamedLimits
          title="Payees, per month"
          nameLabel="Payee"
          placeholder="eip155:8453:0x…"
          rows={form.payees}
          onChange={(payees) => change({ payees })}
          faultOf={findFault}
          fault={findFault('payees')}
        />
        <TextField
          label="Servers on this computer that programs can pay"
          hint="Such as 127.0.0.1:8080. By x402, programs and models reach no other server here. You can reach all of them."
          placeholder="None"
          monospaced
          value={form.localServers}
          onChange={(localServers) => change({ localServers })}
          error={findFault('local_servers')}
        />
        <Checkbox
          label="Ask before the first payment to a payee"
          hint="Even if your policies allow it."
          checked={form.asksFirst}
          onChange={(asksFirst) => change({ asksFirst })}
        />
      </div>
    </Dialog>
  )
}

/** Amount in US dollars. */
const proposedPayment = '25'

const titles = { payment: 'One payment', day: 'Any 24 hours', month: 'Calendar month' } as const

type FindFault = (field: string) => string | undefined

type TotalLimitsProps = { form: LimitsForm; onChange: (changed: Partial<LimitsForm>) => void; findFault: FindFault }

/** Limits per payment and per period. Suggests a limit per payment if none is set. */
function TotalLimits({ form, onChange, findFault }: TotalLimitsProps) {
  return (
    <>
      <div className="grid grid-cols-3 gap-3 max-narrow:grid-cols-1">
        {(['payment', 'day', 'month'] as const).map((field) => (
          <TextField
            key={field}
            label={titles[field]}
            placeholder="No limit"
            unit="USD"
            inputMode="decimal"
            value={form[field]}
            onChange={(value) => onChange({ [field]: value })}
            error={findFault(field)}
          />
        ))}
      </div>
      {form.payment === '' && form.day === '' && form.month === '' && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
          <p className="min-w-48 flex-1 text-muted">
            Without a limit, only your policies and approvals stop a payment.
          </p>
          <Button size="small" onClick={() => onChange({ payment: proposedPayment })}>
            Limit a payment to ${proposedPayment}
          </Button>
        </div>
      )}
    </>
  )
}

type NamedLimitsProps = {
  title: string
  nameLabel: string
  placeholder: string
  rows: readonly NamedLimit[]
  onChange: (rows: readonly NamedLimit[]) => void
  faultOf: FindFault
  fault: string | undefined
}

function NamedLimits({ title, nameLabel, placeholder, rows, onChange, faultOf, fault }: NamedLimitsProps) {
  const put = (next: NamedLimit) => onChange(rows.map((row) => (row.key === next.key ? next : row)))
  return (
    <fieldset className="flex flex-col gap-2">
      <div className="flex items-center justify-between gap-3">
        <legend className="float-left font-medium">{title}</legend>
        <Button
          size="small"
          icon={Plus}
          onClick={() => onChange([...rows, { key: crypto.randomUUID(), name: '', amount: '' }])}
        >
          Add {nameLabel.toLowerCase()}
        </Button>
      </div>
      {fault !== undefined && <p className="text-small text-negative">{fault}</p>}
      {rows.map((row) => (
        <div key={row.key} className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <TextField
              label={nameLabel}
              labelHidden
              placeholder={placeholder}
              monospaced
              value={row.name}
              onChange={(name) => put({ ...row, name })}
              error={faultOf(`${row.key} name`)}
            />
          </div>
          <div className="w-32">
            <TextField
              label={`Limit of ${row.name || nameLabel.toLowerCase()}`}
              labelHidden
              placeholder="0"
              unit="USD"
              inputMode="decimal"
              value={row.amount}
              onChange={(amount) => put({ ...row, amount })}
              error={faultOf(`${row.key} amount`)}
            />
          </div>
          <IconButton
            icon={Trash2}
            label={`Remove the limit of ${row.name || nameLabel.toLowerCase()}`}
            onClick={() => onChange(rows.filter(({ key }) => key !== row.key))}
          />
        </div>
      ))}
    </fieldset>
  )
}
