import { AppWindow, Box, File } from 'lucide-react'
import { useSandboxes } from '../../api/sandboxes/useSandboxes.ts'
import { useFilesByName } from '../../features/files/useFilesByName.ts'
import { usePortsOfSandbox } from '../../features/sandboxes/details/ports/usePorts.ts'
import { readLastSandboxId } from '../../features/terminals/selection/useSelection.ts'
import type { Command } from '../../ui/commands/commandRegistry.tsx'
import { goTo } from '../../ui/route.ts'
import { getStatusLabel } from '../../ui/sandboxes/sandboxLabels.ts'
import { useOpenPort } from '../../ui/sandboxes/useOpenPort.ts'

/** Navigation target in the palette: a sandbox, a port or a file. */
export type PaletteItem = Command & {
  /** Location, shown in place of the section. */
  note?: string
}

/** Maximum number of sandboxes whose ports are requested when the palette opens. */
const maxSandboxes = 12

/** Returns navigation targets for a query. Used while the palette is open. */
export function usePaletteTargets(query: string): PaletteItem[] {
  const { data: sandboxes = [] } = useSandboxes()
  const running = sandboxes.filter(({ status }) => status === 'running')
  const ports = usePortsOfSandbox(running.slice(0, maxSandboxes))
  const openPort = useOpenPort()
  const lastId = readLastSandboxId()
  const present = running.find(({ id }) => id === lastId) ?? running[0]
  const files = useFilesByName(present?.id, query)
  const isTwice = (name: string) => sandboxes.filter((it) => it.name === name).length > 1
  return [
    ...sandboxes.map((sandbox) => ({
      id: `place.sandbox.${sandbox.id}`,
      title: sandbox.name,
      section: 'Sandbox',
      note: isTwice(sandbox.name) ? `Sandbox ${sandbox.short_id}` : 'Sandbox',
      icon: Box,
      keywords: ['switch', 'go', 'open', sandbox.id, getStatusLabel(sandbox.status)],
      run: () => goTo('terminals', sandbox.id),
    })),
    ...ports.map(({ sandbox, port }) => ({
      id: `place.port.${sandbox.id}.${port.port}`,
      title: `Port ${port.port} of ${sandbox.name}`,
      section: 'Port',
      icon: AppWindow,
      keywords: ['localhost', 'preview', 'browser', String(port.port), port.url],
      run: () => void openPort(sandbox, port),
    })),
    ...(present === undefined
      ? []
      : files.map(({ path, name, folder }) => ({
          id: `place.file.${present.id}.${path}`,
          title: name,
          section: 'File',
          note: `${folder} in ${present.name}`,
          icon: File,
          keywords: [path],
          run: () => goTo('terminals', present.id, 'files', path),
        }))),
  ]
}
