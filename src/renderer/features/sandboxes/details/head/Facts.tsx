import type { ReactNode } from 'react'
import { useConnection } from '#renderer/api/AgentProvider.tsx'
import { useRuntimes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { RunCost } from '#renderer/ui/sandboxes/RunCost.tsx'
import { approximateCents } from '#renderer/ui/sandboxes/runCost.ts'
import { describeUnenforced, formatResources } from '#renderer/ui/sandboxes/sandboxLabels.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { Network, type Sandbox } from '#shared/contract/sandboxes.ts'
import { formatUsdCents } from '#shared/money/moneyText.ts'
import { getBaseName, getRuntimeLabel } from '../../baseName.ts'
import { formatIdle, listIdleChoices } from '../../idleLabels.ts'
import { LimitGaps } from '../../LimitGaps.tsx'
import { getNetworkDetail, getNetworkLabel, networks } from '../../networkLabels.ts'
import { type SandboxChange, useChangeSandbox } from './useChangeSandbox.ts'

export function Facts({ sandbox }: { sandbox: Sandbox }) {
  const { runtime, image, region, enforced } = sandbox
  const notEnforced = describeUnenforced(enforced)
  const { data: runtimes } = useRuntimes()
  const isEmbedded = useConnection()?.kind === 'embedded'
  const limitGaps = runtimes?.find(({ name }) => name === runtime)?.limit_gaps ?? []
  const gaps = limitGaps.filter(({ limit }) => !enforced[limit])
  return (
    <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-small">
      <Fact name="Resources">
        {formatResources(sandbox)}
        {notEnforced && <span className="block text-caution">Not enforced here: {notEnforced}</span>}
        <LimitGaps gaps={gaps} />
      </Fact>
      <Fact name="Image">{image ?? getBaseName(runtime)}</Fact>
      <Fact name="Runs on">
        {isEmbedded ? `This computer · ${getRuntimeLabel(runtime)}` : `${getRuntimeLabel(runtime)} · ${region}`}
      </Fact>
      {sandbox.cost && (sandbox.cost.charged || !isEmbedded) && (
        <Fact name="Cost">
          {formatUsdCents(approximateCents(sandbox.cost.cents_per_hour))} an hour
          {sandbox.status === 'running' && (
            <>
              {' '}
              · <RunCost sandbox={sandbox} /> this run
            </>
          )}
          {!sandbox.cost.charged && <span className="block text-faint">Not charged by this service</span>}
        </Fact>
      )}
      <Choices sandbox={sandbox} />
    </dl>
  )
}

function Choices({ sandbox }: { sandbox: Sandbox }) {
  const { data: runtimes } = useRuntimes()
  const change = useChangeSandbox()
  const { network, idle_minutes: idle, status } = sandbox
  const offered = runtimes?.find(({ name }) => name === sandbox.runtime)?.networks
  const tryChange = async (changed: SandboxChange, hint?: string) => {
    try {
      await change(sandbox, changed)
      if (hint !== undefined) notify.info(hint)
    } catch (error) {
      notify.failed(error, { title: `Could not change ${sandbox.name}` })
    }
  }
  return (
    <>
      <Fact name="Network">
        <Select
          quiet
          label="Network"
          labelHidden
          value={network}
          options={networks.map((value) => ({
            value,
            label: getNetworkLabel(value),
            detail: getNetworkDetail(value),
            disabled: value !== network && offered !== undefined && !offered.includes(value),
          }))}
          onChange={(value) =>
            value !== network &&
            void tryChange(
              { network: Network.parse(value) },
              status === 'running' ? 'The network changes at the next start.' : undefined,
            )
          }
        />
      </Fact>
      <Fact name="Stop when idle">
        <Select
          quiet
          label="Stop when idle"
          labelHidden
          value={String(idle)}
          options={listIdleChoices(idle).map((minutes) => ({ value: String(minutes), label: formatIdle(minutes) }))}
          onChange={(value) => void tryChange({ idle_minutes: value === 'null' ? null : Number(value) })}
        />
      </Fact>
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="self-baseline text-faint">{name}</dt>
      <dd className="min-w-0 self-baseline break-words text-muted">{children}</dd>
    </>
  )
}
