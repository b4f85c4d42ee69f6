import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { Panel } from '#renderer/ui/Panel.tsx'
import { formatSize } from '#renderer/ui/sizeText.ts'
import type { PaidAnswer } from '#shared/contract/paymentRecords.ts'

/** Purchased response, as text because it is untrusted. */
export function AnswerPanel({ answer }: { answer: PaidAnswer | null }) {
  if (!answer) return null
  const { status, headers, body, encoding, truncated } = answer
  const type = headers['content-type']
  return (
    <Panel title="Answer" note={`${status}${type === undefined ? '' : ` · ${type}`}${truncated ? ' · cut off' : ''}`}>
      {encoding === 'base64' ? (
        <p className="px-3.5 py-2.5 text-muted">Not text, {formatSize(Math.floor((body.length * 3) / 4))}.</p>
      ) : body === '' ? (
        <p className="px-3.5 py-2.5 text-muted">Empty.</p>
      ) : (
        <DataText name="Answer of the seller" text={formatJson(body)} className="max-h-80" />
      )}
    </Panel>
  )
}
