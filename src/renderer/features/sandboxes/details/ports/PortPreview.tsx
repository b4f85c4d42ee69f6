import { useQuery } from '@tanstack/react-query'
import { ExternalLink, RotateCw, X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import { createPortToken, type ExposedPort } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { PortActions } from './usePorts.ts'

type PortFrameProps = { sandboxId: SandboxId; port: ExposedPort }

type PortPreviewProps = {
  sandboxId: SandboxId
  port: ExposedPort
  listening: boolean | undefined
  actions: PortActions
  onClose: () => void
}

/** Preview of a port's page. The page has a separate origin and cannot access this window. */
export function PortPreview({ sandboxId, port, listening, actions, onClose }: PortPreviewProps) {
  const [loads, setLoads] = useState(0)
  const open = () => void actions.open(port)
  return (
    <section
      aria-label={`Preview of port ${port.port}`}
      className="mt-1 mb-2 overflow-hidden rounded-card border border-line bg-panel"
    >
      <div className="flex h-8 items-center gap-1 border-b border-line pr-1 pl-2.5">
        <span className="min-w-0 flex-1 truncate text-small text-muted">{port.url}</span>
        <IconButton label="Reload" icon={RotateCw} size="small" onClick={() => setLoads(loads + 1)} />
        <IconButton label="Open in browser" icon={ExternalLink} size="small" onClick={open} />
        <IconButton label="Close preview" icon={X} size="small" onClick={onClose} />
      </div>
      {!isLocal(port.url) ? (
        <Notice text="This port has a public address. It opens in a new tab.">
          <Button size="small" icon={ExternalLink} onClick={open}>
            Open in browser
          </Button>
        </Notice>
      ) : listening ? (
        <>
          <div className="h-72 min-h-40 resize-y overflow-hidden">
            <PortFrame key={`${port.visibility} ${loads}`} sandboxId={sandboxId} port={port} />
          </div>
          <p className="border-t border-line px-2.5 py-1 text-small text-faint">
            Still empty? Some pages cannot be embedded. Open them in the browser.
          </p>
        </>
      ) : (
        <Notice text={`Nothing is listening on port ${port.port}. Start a server in the sandbox to see it here.`} />
      )}
    </section>
  )
}

/** Whether the URL is local. The window's Content-Security-Policy allows no other frames. */
function isLocal(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && hostname.endsWith('.localhost')
}

function Notice({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-start gap-2.5 p-3 text-muted">
      <p>{text}</p>
      {children && <div className="flex flex-wrap gap-2">{children}</div>}
    </div>
  )
}

/** Page of a port. For a private port, each frame receives a single-use token that is bound to this window's origin. */
function PortFrame({ sandboxId, port }: PortFrameProps) {
  const agent = useAgent()
  const isPrivate = port.visibility === 'private'
  const { data, error, refetch } = useQuery({
    queryKey: ['port-frame', sandboxId, port.port, port.url],
    queryFn: ({ signal }) => {
      const input = { id: sandboxId, port: port.port, frame_origin: window.location.origin }
      return agent(createPortToken, input, { signal })
    },
    enabled: isPrivate,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (isPrivate && error) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  const address = isPrivate ? data?.open_url : port.url
  if (address === undefined) return undefined
  return (
    <iframe
      title={`Port ${port.port}`}
      src={address}
      sandbox="allow-scripts allow-same-origin allow-forms"
      referrerPolicy="no-referrer"
      // Pages without explicit colors expect a white background.
      className="size-full border-0 bg-[white] scheme-light"
    />
  )
}
