import { joinClassNames } from '#renderer/ui/classNames.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { describeRequester } from '#shared/contract/describeRequester.ts'
import { describeIntent, findPaidAddress } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import { describeState } from './describeState.ts'
import { TimeLeft } from './TimeLeft.tsx'

type InboxRowProps = { record: IntentRecord; isPresent: boolean; rival: string | undefined }

/** @param props.rival notice about other requesters of the same product */
export function InboxRow({ record, isPresent, rival }: InboxRowProps) {
  const { id, requester, state, expires_at, created_at, decision } = record
  const { tone, words } = describeState(record)
  const headline = describeIntent(record)
  const address = findPaidAddress(record)
  return (
    <li>
      <a
        href={buildAddress('approvals', id)}
        aria-current={isPresent ? 'true' : undefined}
        className={joinClassNames(
          'block rounded-control px-2 py-1.5',
          isPresent ? 'bg-selected' : 'hover:bg-hover',
          state === 'waiting' ? 'text-text' : 'text-muted',
        )}
      >
        <span className="line-clamp-2 break-words">{headline}</span>
        {address !== undefined && !headline.includes(address) && (
          <span className="block truncate text-small text-muted">{address}</span>
        )}
        {state === 'waiting' && rival !== undefined && (
          <span className="line-clamp-2 text-small break-words text-caution">{rival}</span>
        )}
        <span className="mt-0.5 flex items-center gap-1.5 text-small text-muted">
          <StatusDot tone={tone} />
          <span className="min-w-0 flex-1 truncate">
            {state === 'waiting' && !decision ? describeRequester(requester).name : words}
          </span>
          {state === 'waiting' ? <TimeLeft until={expires_at} /> : <TimeAgo at={decision?.at ?? created_at} />}
        </span>
      </a>
    </li>
  )
}
