import { useQuery } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { createPortToken, type ExposedPort } from '#shared/contract/ports.ts'
import type { SandboxId } from '#shared/ids.ts'

type PortFrameProps = { sandboxId: SandboxId; port: ExposedPort }

/** Page of a port. For a private one, each frame gets a token that opens it once and nowhere else. */
export function PortFrame({ sandboxId, port }: PortFrameProps) {
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
      // A page that names no colors expects those of paper.
      className="size-full border-0 bg-[white] scheme-light"
    />
  )
}
