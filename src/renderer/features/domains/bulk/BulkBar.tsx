import { CalendarSync, Download, EyeOff, Lock, Server, X } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import type { ApiClient } from '#renderer/api/agentClient.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { Menu } from '#renderer/ui/Menu.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { type DomainRenewal, setRenewal } from '#shared/contract/domainRenewals.ts'
import type { Domain } from '#shared/contract/domains.ts'
import { formatUsd } from '#shared/money/moneyText.ts'
import { changeLock, changeNameservers, changePrivacy } from '../domainCalls.ts'
import { RenewalDialog } from '../renewals/RenewalDialog.tsx'
import { formatYears } from '../renewals/renewalLabels.ts'
import { NameserversDialog } from '../view/NameserversDialog.tsx'
import { type BulkChange, BulkDialog } from './BulkDialog.tsx'
import { formatDomainsCsv } from './domainsCsv.ts'

type BulkBarProps = {
  domains: readonly Domain[]
  renewals: ReadonlyMap<string, DomainRenewal>
  onClear: () => void
}

export function BulkBar({ domains, renewals, onClear }: BulkBarProps) {
  const agent = useAgent()
  const [change, setChange] = useState<BulkChange>()
  const [isNaming, setNaming] = useState(false)
  const [isRenewing, setRenewing] = useState(false)
  const [first] = domains
  return (
    <PageColumn width="table" className="pb-3">
      <section
        aria-label="Selected domains"
        className="flex flex-wrap items-center gap-2 rounded-card border border-line bg-panel py-1.5 px-1.5"
      >
        <IconButton icon={X} label="Clear selection" size="small" onClick={onClear} />
        <span className="mr-auto tabular-nums">{domains.length.toLocaleString('en')} selected</span>
        <Menu
          items={[
            { label: 'Turn on', onSelect: () => setChange(createPrivacyChange(agent, true)) },
            { label: 'Turn off', onSelect: () => setChange(createPrivacyChange(agent, false)) },
          ]}
        >
          <Button size="small" icon={EyeOff}>
            Privacy
          </Button>
        </Menu>
        <Menu
          items={[
            { label: 'Lock', onSelect: () => setChange(createLockChange(agent, true)) },
            { label: 'Unlock', onSelect: () => setChange(createLockChange(agent, false)) },
          ]}
        >
          <Button size="small" icon={Lock}>
            Transfer lock
          </Button>
        </Menu>
        <Menu
          items={[
            { label: 'Turn on…', onSelect: () => setRenewing(true) },
            { label: 'Turn off', onSelect: () => setChange(createRenewalStop(agent, renewals)) },
          ]}
        >
          <Button size="small" icon={CalendarSync}>
            Auto-renew
          </Button>
        </Menu>
        <Button size="small" icon={Server} onClick={() => setNaming(true)}>
          Nameservers
        </Button>
        <Button size="small" icon={Download} onClick={() => download(formatDomainsCsv(domains))}>
          Export CSV
        </Button>
      </section>
      {isNaming && first && (
        <NameserversDialog
          domain={domains.length === 1 ? first.unicode : `${domains.length} domains`}
          nameservers={first.nameservers}
          onClose={() => setNaming(false)}
          onSave={async (nameservers) =>
            setChange({
              title: 'Change nameservers',
              detail: nameservers.join(', '),
              run: (domain) => agent(changeNameservers, { domain, nameservers }),
            })
          }
        />
      )}
      {isRenewing && first && (
        <RenewalDialog
          name={domains.length === 1 ? first.unicode : `${domains.length.toLocaleString('en')} domains`}
          present={undefined}
          yearMicroUsd={undefined}
          onClose={() => setRenewing(false)}
          onSave={async (settings) =>
            setChange({
              title: 'Turn on auto-renew',
              detail: `${settings.days_before} days before expiry, for ${formatYears(settings.years)}, at most ${formatUsd(String(settings.max_micro_usd), 'exact')} each.`,
              run: (domain) => agent(setRenewal, { domain, ...settings }),
            })
          }
        />
      )}
      {change && <BulkDialog change={change} domains={domains} onClose={() => setChange(undefined)} />}
    </PageColumn>
  )
}

function createPrivacyChange(agent: ApiClient, enabled: boolean): BulkChange {
  return {
    title: enabled ? 'Turn on privacy' : 'Turn off privacy',
    detail: enabled
      ? 'Hides your contact details from public lookups.'
      : 'Your contact details become public and remain in lookup archives.',
    run: (domain) => agent(changePrivacy, { domain, enabled }),
  }
}

function createLockChange(agent: ApiClient, enabled: boolean): BulkChange {
  return {
    title: enabled ? 'Lock transfers' : 'Unlock transfers',
    detail: enabled
      ? 'Prevents transfers to another registrar.'
      : 'Anyone with a domain’s transfer code can then transfer it.',
    run: (domain) => agent(changeLock, { domain, enabled }),
  }
}

function createRenewalStop(agent: ApiClient, renewals: BulkBarProps['renewals']): BulkChange {
  return {
    title: 'Turn off auto-renew',
    detail: 'These domains expire unless you renew them.',
    run: async (domain) => {
      const present = renewals.get(domain)
      if (!present?.enabled) return
      const { days_before, years, max_micro_usd } = present
      await agent(setRenewal, { domain, enabled: false, days_before, years, max_micro_usd })
    },
  }
}

function download(csv: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }))
  link.download = 'steward-domains.csv'
  link.click()
  URL.revokeObjectURL(link.href)
}
