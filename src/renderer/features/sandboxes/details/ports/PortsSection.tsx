import { Plus } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { SandboxDomainRow } from '#renderer/ui/sandboxes/SandboxDomainRow.tsx'
import { useSandboxDomains } from '#renderer/ui/sandboxes/useSandboxDomains.ts'
import { Section } from '#renderer/ui/section/Section.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { ExposeForm } from './ExposeForm.tsx'
import { PortRow } from './PortRow.tsx'
import { useListening, usePortActions, usePorts } from './usePorts.ts'

type PortsSectionProps = { sandbox: Sandbox; visible: boolean }

export function PortsSection({ sandbox, visible }: PortsSectionProps) {
  const { forwarded_ports: forwarded } = sandbox
  // Port as typed in the open form; undefined if the form is closed.
  const [portText, setPortText] = useState<string>()
  return (
    <Section
      id="ports"
      title="Ports"
      note={forwarded.length > 0 ? forwarded.length : undefined}
      actions={<IconButton label="Expose a port" icon={Plus} size="small" onClick={() => setPortText('')} />}
    >
      <Ports sandbox={sandbox} visible={visible} request={portText} onAsk={setPortText} />
    </Section>
  )
}

type PortsProps = PortsSectionProps & { request: string | undefined; onAsk: (port: string | undefined) => void }

function Ports({ sandbox, visible, request: requested, onAsk }: PortsProps) {
  const { data, error, refetch } = usePorts(sandbox, visible)
  const listening = useListening(sandbox, visible)
  const names = useSandboxDomains([sandbox], visible)
  const actions = usePortActions(sandbox)
  if (error && !data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const exposed = data ?? []
  const offered = (listening ?? []).filter((port) => exposed.every((it) => it.port !== port))
  return (
    <>
      {requested !== undefined && (
        <ExposeForm key={requested} port={requested} expose={actions.expose} onClose={() => onAsk(undefined)} />
      )}
      {data?.length === 0 && offered.length === 0 && requested === undefined && (
        <p className="text-muted">No ports exposed. Servers you start appear here.</p>
      )}
      <ul aria-label="Exposed ports">
        {exposed.map((port) => (
          <PortRow
            sandboxId={sandbox.id}
            key={port.port}
            port={port}
            listening={listening?.includes(port.port)}
            sandboxRuns={sandbox.status === 'running'}
            actions={actions}
          />
        ))}
      </ul>
      {names.length > 0 && (
        <ul aria-label="Domains">
          {names.map((row) => (
            <SandboxDomainRow key={row.name.domain} {...row} narrow />
          ))}
        </ul>
      )}
      {data && offered.length > 0 && (
        <ul aria-label="Unexposed ports" className="flex flex-col gap-1">
          {offered.map((port) => (
            <li key={port} className="flex h-8 items-center gap-2 text-muted">
              <span className="flex-1">
                <span className="font-medium text-text tabular-nums">{port}</span> is listening
              </span>
              <Button size="small" onClick={() => onAsk(String(port))}>
                Expose…
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
