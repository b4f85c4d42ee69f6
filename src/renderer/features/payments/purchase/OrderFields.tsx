import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import type { PurchaseOrder } from '#renderer/ui/purchaseContext.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { SandboxPortFields } from '#renderer/ui/sandboxes/SandboxPortFields.tsx'
import { TextAreaField } from '#renderer/ui/TextAreaField.tsx'
import { domainLimits } from '#shared/contract/domainSearch.ts'
import { formatYears, type OrderForm, parseHosts } from './purchaseInput.ts'

type OrderFieldsProps = {
  kind: PurchaseOrder['kind']
  form: OrderForm
  onChange: (part: Partial<OrderForm>) => void
}

/** Fields of an order. A top-up has none; a renewal has only its years. */
export function OrderFields({ kind, form, onChange }: OrderFieldsProps) {
  const { years, hosts, isPointed, target } = form
  return (
    <>
      {kind !== 'topup' && (
        <div className="grid grid-cols-[9rem_minmax(0,1fr)] items-start gap-4">
          <Select
            label="Years"
            value={String(years)}
            onChange={(value) => onChange({ years: Number(value) })}
            options={Array.from({ length: domainLimits.years.max }, (_, at) => ({
              value: String(at + 1),
              label: formatYears(at + 1),
            }))}
          />
          {kind === 'registration' && <RegistrationOptions form={form} onChange={onChange} />}
        </div>
      )}
      {isPointed && <SandboxPortFields value={target} onChange={(value) => onChange({ target: value })} />}
      {hosts !== undefined && (
        <TextAreaField
          label="Nameservers"
          hint="One per line, from 2 to 13."
          error={findHostsFault(hosts)}
          rows={3}
          value={hosts}
          onChange={(text) => onChange({ hosts: text })}
          monospaced
        />
      )}
    </>
  )
}

function RegistrationOptions({ form, onChange }: Omit<OrderFieldsProps, 'kind'>) {
  const { privacy, isPointed } = form
  const hasOwn = form.hosts !== undefined
  return (
    <div className="flex flex-col gap-2 pt-6.5">
      <Checkbox
        label="Privacy"
        hint="Hides your contact details from public lookups."
        checked={privacy}
        onChange={(checked) => onChange({ privacy: checked })}
      />
      <Checkbox
        label="Use other nameservers"
        hint={hasOwn ? undefined : 'Otherwise you edit its DNS records here.'}
        checked={hasOwn}
        disabled={isPointed}
        onChange={(own) => onChange({ hosts: own ? '' : undefined })}
      />
      <Checkbox
        label="Point it at a sandbox"
        hint={isPointed ? undefined : 'Serves an exposed port once you own the name.'}
        checked={isPointed}
        disabled={hasOwn}
        onChange={(checked) => onChange({ isPointed: checked })}
      />
    </div>
  )
}

function findHostsFault(hosts: string): string | undefined {
  const { error } = parseHosts(hosts)
  return hosts.trim() === '' || !error ? undefined : `Nameservers ${error.issues[0]?.message}.`
}
