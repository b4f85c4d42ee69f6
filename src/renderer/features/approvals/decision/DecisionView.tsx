import { Check, ChevronRight, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { DataText, formatJson } from '#renderer/ui/DataText.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { useCopied } from '#renderer/ui/useCopied.ts'
import { describeRequester } from '#shared/contract/describeRequester.ts'
import { describeIntent } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { describeState } from '../inbox/describeState.ts'
import { TimeLeft } from '../inbox/TimeLeft.tsx'
import { DecisionBar } from './DecisionBar.tsx'
import { DecisionNotices } from './DecisionNotices.tsx'
import { IntentFields } from './IntentFields.tsx'
import { Outcome } from './Outcome.tsx'

export function DecisionView({ record, next }: { record: IntentRecord; next: string | undefined }) {
  const { sentence, state, expires_at, created_at } = record
  const { tone, words } = describeState(record)
  const headline = describeIntent(record)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // Focuses the heading when opened from a link or notice, because no key decides anything there. Also after the
    // decision, because its buttons are removed.
    if (state !== 'approved' && document.activeElement === document.body) heading.current?.focus()
  }, [state])
  return (
    <article aria-label="Request" className="flex size-full flex-col">
      <div className="min-h-0 flex-1 overflow-auto">
        <PageColumn className="flex flex-col gap-5 py-5">
          <header>
            <p className="flex items-center gap-2 text-small text-muted">
              <StatusDot tone={tone} />
              <span>{words}</span>
              {state === 'waiting' && <TimeLeft until={expires_at} />}
            </p>
            <h2 ref={heading} tabIndex={-1} className="mt-1.5 text-large font-semibold break-words outline-none">
              {headline}
            </h2>
            {headline !== sentence && <p className="mt-1 text-small break-words text-muted">{sentence}</p>}
          </header>
          <RequesterLine record={record} />
          {state === 'waiting' ? <DecisionNotices record={record} /> : <Outcome record={record} next={next} />}
          <IntentFields record={record} />
          <RawData key={record.id} text={record.raw} />
          <p className="text-small text-faint">
            Requested <time dateTime={created_at}>{new Date(created_at).toLocaleString()}</time>
          </p>
        </PageColumn>
      </div>
      {state === 'waiting' && <DecisionBar record={record} />}
    </article>
  )
}

function RequesterLine({ record: { requester, reason } }: { record: IntentRecord }) {
  const { name, what } = describeRequester(requester)
  const isOwn = requester.kind === 'agent'
  return (
    <section aria-label="Requester" className="flex flex-col gap-2">
      <p>
        Requested by <strong className="font-semibold">{name}</strong>
        {isOwn ? name !== 'Steward' && ', part of Steward' : `, ${what}`}
      </p>
      {reason !== null && (
        <figure className="border-l-2 border-edge pl-3">
          <figcaption className="text-small text-faint">
            {requester.kind === 'person' ? 'Your reason' : isOwn ? 'Reason' : 'Reason given (unverified)'}
          </figcaption>
          <blockquote className="break-words text-muted">“{reason}”</blockquote>
        </figure>
      )}
    </section>
  )
}

/** Raw bytes of the request, collapsed by default. */
function RawData({ text }: { text: string }) {
  const [open, setOpen] = useState(false)
  const { copied, copy } = useCopied(text)
  return (
    <section aria-label="Raw data" className="rounded-card border border-line">
      <header className="flex h-9 items-center pr-1.5">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-card px-2.5 text-left font-medium hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            className={joinClassNames('size-3.5 text-faint transition-transform duration-100', open && 'rotate-90')}
          />
          Raw data
        </button>
        {open && (
          <IconButton
            label={copied ? 'Copied' : 'Copy raw data'}
            icon={copied ? Check : Copy}
            onClick={() => void copy()}
          />
        )}
      </header>
      {open && <DataText name="Data" text={formatJson(text)} className="max-h-90 border-t border-line" />}
    </section>
  )
}
