import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { SandboxDomainRow } from '#renderer/ui/sandboxes/SandboxDomainRow.tsx'
import { type SandboxName, useSandboxDomains } from '#renderer/ui/sandboxes/useSandboxDomains.ts'

type DomainSandboxesProps = {
  zone: string
  onRemoved: (name: SandboxName['name']) => void
}

/** Sandboxes that the domain, or names below it, lead to. Nothing if there are none. */
export function DomainSandboxes({ zone, onRemoved }: DomainSandboxesProps) {
  const { data: sandboxes = [] } = useSandboxes()
  const rows = useSandboxDomains(sandboxes).filter(
    ({ name: { domain } }) => domain === zone || domain.endsWith(`.${zone}`),
  )
  if (rows.length === 0) return null
  return (
    <ul aria-label="Sandboxes of this domain" className="rounded-control border border-line px-3 py-1">
      {rows.map((row) => (
        <SandboxDomainRow key={`${row.sandbox.id} ${row.name.domain}`} {...row} onRemoved={() => onRemoved(row.name)} />
      ))}
    </ul>
  )
}
