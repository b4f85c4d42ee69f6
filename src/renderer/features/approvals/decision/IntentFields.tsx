import { TriangleAlert } from 'lucide-react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import type { IntentRecord } from '#shared/contract/intents.ts'

type IntentField = IntentRecord['fields'][number]

/** Decoded content of a request. URLs are not rendered as links, because the requester controls them. */
export function IntentFields({ record: { fields } }: { record: IntentRecord }) {
  const warnings = fields.filter(({ kind }) => kind === 'warning')
  const facts = fields.filter(({ kind }) => kind !== 'warning')
  return (
    <section aria-label="Fields to sign" className="flex flex-col gap-3">
      {warnings.map(({ label, value }) => (
        <p key={`${label} ${value}`} className="flex items-start gap-2 rounded-card bg-caution-soft px-3 py-2">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-caution" />
          <span className="min-w-0 break-words">
            <strong className="font-semibold">Warning · {label}:</strong> {value}
          </span>
        </p>
      ))}
      <dl className="divide-y divide-line rounded-card border border-line">
        {facts.map((field) => (
          <div
            key={`${field.label} ${field.value}`}
            className="grid grid-cols-[9rem_minmax(0,1fr)] gap-x-4 px-3.5 py-1.5 max-narrow:grid-cols-1"
          >
            <dt className="leading-6 text-muted">{field.label}</dt>
            <dd className="min-w-0 leading-6">
              <FieldValue field={field} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function FieldValue({ field: { kind, label, value } }: { field: IntentField }) {
  switch (kind) {
    case 'address':
    case 'hash':
      return <AddressText whole text={value} label={`Copy ${label.toLowerCase()}`} />
    case 'amount':
      return <strong className="font-semibold tabular-nums">{value}</strong>
    case 'url':
      return <span className="font-mono text-small break-all">{value}</span>
    case 'time':
      return <TimeValue value={value} />
    default:
      return <span className="break-words whitespace-pre-wrap">{value}</span>
  }
}

function TimeValue({ value }: { value: string }) {
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return <span>{value}</span>
  return (
    <time dateTime={value} title={value}>
      {at.toLocaleString()}
    </time>
  )
}
