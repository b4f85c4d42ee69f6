import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ArrowLeft, KeyRound, Pencil, RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { CopyLine } from '#renderer/ui/CopyLine.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { PageScroll } from '#renderer/ui/PageFrame.tsx'
import { usePurchase } from '#renderer/ui/purchaseContext.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import type { LocalDomain } from '#shared/contract/localDomains.ts'
import { RecordsEditor } from '../dns/RecordsEditor.tsx'
import { changeLock, changeNameservers, changePrivacy, readAuthCode } from '../domainCalls.ts'
import { ExpiryText } from '../list/ExpiryText.tsx'
import { PropagationSection } from '../propagation/PropagationSection.tsx'
import { RenewalFacts } from '../renewals/RenewalFacts.tsx'
import { SourceNotice } from '../SourceNotice.tsx'
import { domainsKey, useDomain } from '../useDomains.ts'
import { NameserversDialog } from './NameserversDialog.tsx'

export function DomainView({ domain }: { domain: string }) {
  const { data, error, isPending, refetch } = useDomain(domain)
  return (
    <PageScroll width="table" className="flex flex-col gap-6 py-5">
      <a
        href={buildAddress('domains')}
        className="flex h-6 w-fit items-center gap-1.5 text-small text-muted hover:text-text"
      >
        <ArrowLeft aria-hidden className="size-3.5" />
        All domains
      </a>
      {isPending ? (
        <SkeletonRows label="Loading the domain…" count={5} rowClassName="h-6" />
      ) : data ? (
        <>
          <DomainFacts domain={data} />
          <RecordsEditor domain={data} />
          <PropagationSection domain={data.domain} />
        </>
      ) : (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      )}
    </PageScroll>
  )
}

function DomainFacts({ domain: of }: { domain: LocalDomain }) {
  const { domain, unicode, status, registrar, nameservers } = of
  const agent = useAgent()
  const queryClient = useQueryClient()
  const openPurchase = usePurchase()
  const [isNaming, setNaming] = useState(false)
  const onSettled = () => readAgain(queryClient, domainsKey)
  const settingPrivacy = useMutation({
    mutationFn: (enabled: boolean) => agent(changePrivacy, { domain, enabled }),
    onSettled,
  })
  const settingLock = useMutation({
    mutationFn: (enabled: boolean) => agent(changeLock, { domain, enabled }),
    onSettled,
  })
  const failure = settingPrivacy.error ?? settingLock.error
  const isPrivate = resolveFlag(settingPrivacy, settingPrivacy.data?.privacy, { cached: of.privacy, asOf: of.as_of })
  const isLocked = resolveFlag(settingLock, settingLock.data?.locked, { cached: of.locked, asOf: of.as_of })
  return (
    <section aria-label={unicode} className="flex flex-col gap-4">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h3 className="text-title font-semibold break-all">
          <bdi>{unicode}</bdi>
        </h3>
        {unicode !== domain && <span className="font-mono text-small text-faint">{domain}</span>}
        <SourceNotice source={of.source} asOf={of.as_of} />
        <a
          href={buildAddress('activity', 'domain', domain)}
          className="text-small font-medium text-accent hover:underline"
        >
          Show in Activity
        </a>
      </div>
      <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-4 gap-y-2">
        <dt className="text-muted">Status</dt>
        <dd className="first-letter:uppercase">
          {of.left_at === null ? status : 'No longer in your registrar account'}
        </dd>
        <dt className="flex h-7 items-center text-muted">Expires</dt>
        <dd className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <ExpiryText domain={of} />
          <Button
            size="small"
            icon={RefreshCw}
            onClick={() => openPurchase({ kind: 'renewal', domain, unicode, expiresAt: of.expires_at })}
          >
            Renew…
          </Button>
        </dd>
        <dt className="flex h-7 items-center text-muted">Auto-renew</dt>
        <dd>
          <RenewalFacts domain={of} />
        </dd>
        <dt className="text-muted">Registrar</dt>
        <dd>{registrar}</dd>
        <dt className="text-muted">Nameservers</dt>
        <dd className="flex flex-wrap items-start gap-x-3 gap-y-1">
          <ul className="min-w-0 font-mono text-small break-all">
            {nameservers.map((nameserver) => (
              <li key={nameserver}>{nameserver}</li>
            ))}
          </ul>
          <Button size="small" icon={Pencil} onClick={() => setNaming(true)}>
            Edit nameservers
          </Button>
        </dd>
      </dl>
      <div className="flex flex-col gap-2">
        <Checkbox
          label="Privacy"
          hint="Hides your contact details from public lookups."
          checked={isPrivate}
          disabled={settingPrivacy.isPending}
          onChange={(enabled) => settingPrivacy.mutate(enabled)}
        />
        <Checkbox
          label="Transfer lock"
          hint="Prevents transfers to another registrar."
          checked={isLocked}
          disabled={settingLock.isPending}
          onChange={(enabled) => settingLock.mutate(enabled)}
        />
      </div>
      {!isLocked && <AuthCode domain={domain} />}
      {failure && <ErrorNotice error={failure} />}
      {isNaming && (
        <NameserversDialog
          domain={unicode}
          nameservers={nameservers}
          onClose={() => setNaming(false)}
          onSave={async (all) => {
            await agent(changeNameservers, { domain, nameservers: all })
            await onSettled()
          }}
        />
      )}
    </section>
  )
}

type Setting = { isPending: boolean; variables: boolean | undefined; submittedAt: number }

/** Returns the value to display. The cached value may be older than a change that is pending or just completed. */
function resolveFlag(setting: Setting, set: boolean | undefined, of: { cached: boolean; asOf: string }): boolean {
  if (setting.isPending) return setting.variables ?? of.cached
  return Date.parse(of.asOf) < setting.submittedAt ? (set ?? of.cached) : of.cached
}

/** Transfer code required by another registrar. Anyone with the code can transfer the domain. */
function AuthCode({ domain }: { domain: string }) {
  const agent = useAgent()
  const reading = useMutation({
    mutationFn: async () => (await agent(readAuthCode, { domain })).auth_code,
    gcTime: 0,
  })
  return (
    <div className="flex max-w-120 flex-col items-start gap-2">
      {reading.data === undefined ? (
        <Button size="small" icon={KeyRound} busy={reading.isPending} onClick={() => reading.mutate()}>
          Show the transfer code
        </Button>
      ) : reading.data === null ? (
        <p className="text-muted">The registrar sends the code to the owner’s e-mail address.</p>
      ) : (
        <div className="w-full">
          <CopyLine text={reading.data} label="Copy transfer code" />
          <p className="mt-1 text-small text-faint">Anyone with this code can move the domain to another registrar.</p>
        </div>
      )}
      {reading.error && <ErrorNotice error={reading.error} />}
    </div>
  )
}
