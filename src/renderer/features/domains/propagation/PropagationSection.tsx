import { useQuery } from '@tanstack/react-query'
import { ChevronRight, Radar } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { describeError } from '#renderer/ui/describeError.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import {
  checkPropagation,
  listPropagationServers,
  type PropagatedRecords,
  type PropagationServer,
} from '#shared/contract/localDomains.ts'
import { domainsKey } from '../useDomains.ts'
import { describeServer, formatTtl } from './describeServer.ts'

/** Propagation of the records to the domain's name servers and to caching resolvers. */
export function PropagationSection({ domain }: { domain: string }) {
  const agent = useAgent()
  /** Time of the last check. Each check queries all servers. */
  const [requestedDomain, setRequestedDomain] = useState<string>()
  const servers = useQuery({
    queryKey: [...domainsKey, 'servers', domain, requestedDomain],
    queryFn: ({ signal }) => agent(listPropagationServers, { domain }, { signal }),
    enabled: requestedDomain !== undefined,
    retry: false,
  })
  return (
    <section aria-label="Propagation" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-title font-semibold">Propagation</h3>
        {requestedDomain !== undefined && (
          <span className="text-small text-muted">
            Checked <TimeAgo at={requestedDomain} spelled />
          </span>
        )}
        <span className="flex-1" />
        <Button
          size="small"
          icon={Radar}
          busy={servers.isFetching}
          onClick={() => setRequestedDomain(new Date().toISOString())}
        >
          {requestedDomain === undefined ? 'Check propagation' : 'Check again'}
        </Button>
      </div>
      {requestedDomain === undefined ? (
        <p className="text-muted">
          Compares your records with what public resolvers return. They’ll see the domain name.
        </p>
      ) : servers.error ? (
        <ErrorNotice error={servers.error} onRetry={() => void servers.refetch()} />
      ) : (
        <ul aria-label="DNS servers" className="divide-y divide-line rounded-card border border-line">
          {servers.data?.servers.map((server) => (
            <ServerRow
              key={`${server.id} ${requestedDomain}`}
              domain={domain}
              server={server}
              request={requestedDomain}
            />
          ))}
        </ul>
      )}
    </section>
  )
}

const kindLabels = { authoritative: 'Nameserver', resolver: 'Resolver' } as const
type ServerRowProps = { domain: string; server: PropagationServer; request: string }

function ServerRow({ domain, server: { id, name, kind }, request: requested }: ServerRowProps) {
  const agent = useAgent()
  const [isOpen, setOpen] = useState(false)
  const { data, error, isPending } = useQuery({
    queryKey: [...domainsKey, 'propagation', domain, id, requested],
    queryFn: ({ signal }) => agent(checkPropagation, { domain, server: id }, { signal }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const words = isPending
    ? ({ tone: 'neutral', text: 'Querying…' } as const)
    : data
      ? describeServer(data.records)
      : ({ tone: 'neutral', text: describeError(error).message } as const)
  return (
    <li data-state={words.tone}>
      <button
        type="button"
        aria-expanded={isOpen}
        disabled={!data || data.records.length === 0}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-9 w-full items-center gap-3 px-3.5 py-1.5 text-left enabled:hover:bg-hover"
      >
        <span className="w-44 min-w-0 truncate font-mono text-small max-narrow:w-32" title={name}>
          {name}
        </span>
        <span className="w-20 shrink-0 text-small text-faint max-narrow:hidden">{kindLabels[kind]}</span>
        <span className="flex min-w-0 flex-1 items-center gap-1.5">
          <StatusDot tone={words.tone} pulsing={isPending} />
          <span className="truncate text-muted">{words.text}</span>
        </span>
        <ChevronRight
          aria-hidden
          className={joinClassNames(
            'size-3 shrink-0 text-faint transition-transform duration-100',
            isOpen && 'rotate-90',
            !data && 'invisible',
          )}
        />
      </button>
      {isOpen && data && (
        <ul aria-label={`Records at ${name}`} className="border-t border-line bg-panel px-3.5 py-1.5">
          {data.records.map((records) => (
            <RecordsRow key={`${records.type} ${records.host}`} records={records} />
          ))}
          {data.left_out > 0 && <li className="py-1 text-small text-faint">{data.left_out} more were not checked.</li>}
        </ul>
      )}
    </li>
  )
}

const stateLabels = {
  same: { tone: 'positive', text: 'Up to date' },
  other: { tone: 'caution', text: 'Different' },
  missing: { tone: 'caution', text: 'Missing' },
  failed: { tone: 'neutral', text: 'No answer' },
} as const

function RecordsRow({
  records: { type, host, state, wanted: expected, found: actual, ttl, detail },
}: {
  records: PropagatedRecords
}) {
  const { tone, text } = stateLabels[state]
  return (
    <li className="grid grid-cols-[3.5rem_8rem_minmax(0,1fr)_6.5rem] items-start gap-3 py-1 max-narrow:grid-cols-[3rem_minmax(0,1fr)_6rem]">
      <span className="font-medium">{type}</span>
      <span className="truncate font-mono text-small leading-5">{host}</span>
      <span className="min-w-0 font-mono text-small break-all leading-5 text-muted max-narrow:col-span-3 max-narrow:row-start-2">
        {state === 'same' ? (
          actual.join(', ')
        ) : (
          <>
            <span className="block">
              <span className="font-sans text-faint">Expected </span>
              {expected.join(', ')}
            </span>
            <span className="block text-text">
              <span className="font-sans text-faint">Found </span>
              {detail ?? (actual.length === 0 ? 'nothing' : actual.join(', '))}
              {ttl !== null && <span className="font-sans text-faint"> · for up to {formatTtl(ttl)} more</span>}
            </span>
          </>
        )}
      </span>
      <span className="flex items-center gap-1.5 text-small leading-5 text-muted">
        <StatusDot tone={tone} />
        {text}
      </span>
    </li>
  )
}
