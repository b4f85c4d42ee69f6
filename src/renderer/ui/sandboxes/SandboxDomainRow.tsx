import { ExternalLink, Unplug } from 'lucide-react'
import { Button } from '../Button.tsx'
import { IconButton } from '../IconButton.tsx'
import { type SandboxName, useSandboxDomainActions } from './useSandboxDomains.ts'

type SandboxDomainRowProps = SandboxName & {
  /** Whether actions are shown as icons, for a narrow panel. */
  narrow?: boolean
  onRemoved?: () => void
}

/** Row such as `northwind.com → atlas:8000` with its actions. */
export function SandboxDomainRow({ narrow = false, onRemoved, ...row }: SandboxDomainRowProps) {
  const { sandbox, name } = row
  const { domain, port, verified, verification } = name
  const actions = useSandboxDomainActions()
  const open = () => void actions.open(row)
  const remove = async (): Promise<void> => {
    if (await actions.remove(row)) onRemoved?.()
  }
  const canOpen = verified && port !== null
  return (
    <li className="flex min-h-9 items-center gap-2">
      <span className="min-w-0 flex-1 leading-4">
        <span className="block truncate" title={`${domain} → ${sandbox.name}`}>
          <bdi className="font-medium">{domain}</bdi>
          <span className="text-muted">
            {' → '}
            <bdi>{narrow ? '' : sandbox.name}</bdi>
            {port === null ? (narrow ? 'no port' : '') : `${narrow ? 'port ' : ':'}${port}`}
          </span>
        </span>
        {port === null && <span className="block text-small text-faint">Points there once a port is exposed.</span>}
        {!verified && !verification && (
          <span className="block text-small text-caution">Port {port} is not exposed.</span>
        )}
        {verification && (
          <span className="block text-small break-all text-caution">
            Not verified. Add the {verification.type} record {verification.name} with {verification.value}, then add the
            domain again.
          </span>
        )}
      </span>
      {narrow ? (
        <>
          {canOpen && <IconButton label={`Open ${domain}`} icon={ExternalLink} size="small" onClick={open} />}
          <IconButton label={`Remove ${domain}`} icon={Unplug} size="small" onClick={() => void remove()} />
        </>
      ) : (
        <>
          {canOpen && (
            <Button size="small" icon={ExternalLink} aria-label={`Open ${domain}`} onClick={open}>
              Open
            </Button>
          )}
          <Button size="small" icon={Unplug} aria-label={`Remove ${domain}`} onClick={() => void remove()}>
            Remove
          </Button>
        </>
      )}
    </li>
  )
}
