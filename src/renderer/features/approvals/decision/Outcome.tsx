import { AddressText } from '#renderer/ui/AddressText.tsx'
import { buildAddress } from '#renderer/ui/route.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'

const deciders = {
  person: 'You',
  policy: 'Your policy',
  grant: 'A remembered approval',
  stop: 'The stop switch',
  steward: 'Steward (built in)',
} as const

type OutcomeProps = { record: IntentRecord /** Link to the next pending request. */; next: string | undefined }

export function Outcome({ record: { id, decision, error, result }, next }: OutcomeProps) {
  const facts = [
    ...(decision ? [{ label: 'Decided by', value: deciders[decision.by] }] : []),
    ...(decision && decision.by !== 'person' ? [{ label: 'Reason', value: decision.detail }] : []),
    ...(decision ? [{ label: 'Time', value: new Date(decision.at).toLocaleString() }] : []),
    ...(error !== null && error !== decision?.detail ? [{ label: 'Result', value: error }] : []),
  ]
  return (
    <section aria-label="Outcome" className="flex flex-col gap-2 rounded-card bg-panel px-3.5 py-3">
      <dl className="flex flex-col gap-0.5">
        {facts.map(({ label, value }) => (
          <div key={label} className="grid grid-cols-[9rem_minmax(0,1fr)] gap-x-4 max-narrow:grid-cols-1">
            <dt className="text-muted">{label}</dt>
            <dd className="break-words">{value}</dd>
          </div>
        ))}
        {result && result.kind !== 'tool.call' && (
          <div className="grid grid-cols-[9rem_minmax(0,1fr)] gap-x-4 max-narrow:grid-cols-1">
            <dt className="leading-6 text-muted">Signature</dt>
            <dd className="min-w-0">
              <AddressText whole text={result.signature} label="Copy signature" />
            </dd>
          </div>
        )}
      </dl>
      <p className="flex flex-wrap gap-x-5 gap-y-1">
        {next !== undefined && <PlaceLink to={['approvals', next]}>Next request</PlaceLink>}
        <PlaceLink to={['activity', 'intent', id]}>Show in Activity</PlaceLink>
      </p>
    </section>
  )
}

function PlaceLink({ to, children }: { to: readonly string[]; children: string }) {
  return (
    <a href={buildAddress(...to)} className="font-medium text-accent hover:underline">
      {children}
    </a>
  )
}
