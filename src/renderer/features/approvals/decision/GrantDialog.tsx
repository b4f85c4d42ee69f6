import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { NumberField, validateNumber } from '#renderer/ui/NumberField.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { type GrantDraft, grantSentence } from './describeGrant.ts'

const spans = [
  { value: '15', label: '15 minutes' },
  { value: '60', label: '1 hour' },
  { value: '480', label: '8 hours' },
  { value: '1440', label: '1 day' },
  { value: '10080', label: '7 days' },
]

type GrantDialogProps = {
  record: IntentRecord
  busy: boolean
  error: unknown
  onApprove: (grant: GrantDraft) => void
  onClose: () => void
}

const timesLimits = { min: 2, max: 1000 } as const

/** Dialog for a grant limited by number of uses, by expiry, or by both. */
export function GrantDialog({ record, busy, error, onApprove, onClose }: GrantDialogProps) {
  const [counted, setCounted] = useState(true)
  const [timed, setTimed] = useState(true)
  const [times, setTimes] = useState(5)
  const [minutes, setMinutes] = useState('60')
  const [extent, setExtent] = useState<'path' | 'host'>('path')
  const { path, host } = record
  const draft: GrantDraft = {
    times: counted ? times : undefined,
    minutes: timed ? Number(minutes) : undefined,
    onlyPath: typeof path === 'string' && extent === 'path',
  }
  const bounded = (counted || timed) && (!counted || validateNumber(times, timesLimits) === undefined)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !busy && onClose()}
      title="Approve and remember?"
      description={record.sentence}
      footer={
        <>
          <Button onClick={onClose} disabled={busy} autoFocus>
            Cancel
          </Button>
          <Button variant="primary" busy={busy} disabled={!bounded} onClick={() => onApprove(draft)}>
            Approve
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-2 items-center gap-x-4 gap-y-2">
          <Checkbox label="Number of times, including this one" checked={counted} onChange={setCounted} />
          <NumberField label="Count" labelHidden value={times} onChange={setTimes} {...timesLimits} unit="times" />
          <Checkbox label="Until" checked={timed} onChange={setTimed} />
          <Select label="Duration" labelHidden value={minutes} onChange={setMinutes} options={spans} />
        </div>
        {typeof path === 'string' && (
          <Select
            label="For"
            value={extent}
            onChange={(value) => setExtent(value === 'host' ? 'host' : 'path')}
            options={[
              { value: 'path', label: `Only ${path}` },
              { value: 'host', label: `Anything ${host ?? 'the seller'} sells` },
            ]}
          />
        )}
        <p role="status" className="rounded-card bg-panel px-3.5 py-2.5">
          {bounded ? grantSentence(record, draft, Date.now()) : 'Choose a number of times or an end time.'}
        </p>
        <p className="text-small text-faint">
          Only for this requester, site and account. You can revoke it under Policies.
        </p>
        {error !== undefined && <ErrorNotice error={error} />}
      </div>
    </Dialog>
  )
}
