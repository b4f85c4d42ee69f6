import { useQueryClient } from '@tanstack/react-query'
import { type FileState, statFile } from '#shared/contract/files.ts'
import { listPorts } from '#shared/contract/ports.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { useAgent, useLocalStatus } from '../../api/AgentProvider.tsx'
import { resolveTypedPath } from '../../features/files/paths.ts'
import type { SandboxPlace } from '../../features/terminals/view/links/parseLinkTarget.ts'
import type { SandboxLinks } from '../../features/terminals/view/links/terminalLinks.ts'
import { useOpenPort } from '../../ui/sandboxes/useOpenPort.ts'
import { notify } from '../../ui/toast.tsx'
import type { PathRequest } from './sidePanels.ts'

/** Port without an address, and the path to open there. */
export type PortRequest = { port: number; path: string }

type Asking = {
  show(sandbox: Sandbox, request: PathRequest): void
  askToExpose(sandbox: Sandbox, request: PortRequest): void
}

/** Links are resolved repeatedly while the pointer moves over output. */
const cacheMs = 5_000
const home = '/root'

/** Returns link handlers for a sandbox's terminals: files open in the panel, ports in the browser. */
export function useSandboxLinks({ show, askToExpose }: Asking): (sandbox: Sandbox) => SandboxLinks {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const openPort = useOpenPort()
  const connection = useLocalStatus()?.connection
  // A remote service has no addresses under `localhost`.
  const previewPort = connection?.kind === 'embedded' ? URL.parse(connection.url)?.port : undefined

  const readFileState = ({ id }: Sandbox, path: string): Promise<FileState> =>
    queryClient.fetchQuery({
      queryKey: ['linked file', id, path],
      queryFn: ({ signal }) => agent(statFile, { id, path, follow: true }, { signal }),
      staleTime: cacheMs,
      gcTime: cacheMs,
      retry: false,
    })

  const openPath = async (sandbox: Sandbox, { path, line, column }: SandboxPlace & { kind: 'file' }) => {
    try {
      const { type } = await readFileState(sandbox, path)
      const at = line === undefined ? undefined : { line, column: column ?? 1 }
      show(sandbox, { path, isFolder: type === 'directory', at })
    } catch (error) {
      notify.failed(error, { title: `Could not open ${path}` })
    }
  }

  const openAt = async (sandbox: Sandbox, { port, path }: PortRequest) => {
    try {
      const { ports } = await agent(listPorts, { id: sandbox.id })
      const exposed = ports.find((it) => it.port === port)
      if (exposed) await openPort(sandbox, exposed, path)
      else askToExpose(sandbox, { port, path })
    } catch (error) {
      notify.failed(error, { title: `Could not open port ${port}` })
    }
  }

  return (sandbox) => ({
    async find(named, folder = home) {
      const path = resolveTypedPath(named, folder)
      if (path === undefined) return undefined
      const { type } = await readFileState(sandbox, path)
      return type === 'file' ? { path } : undefined
    },
    previewPort: () => previewPort,
    open: (place) => void (place.kind === 'file' ? openPath(sandbox, place) : openAt(sandbox, place)),
  })
}
