import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useLiveEvent } from '#renderer/api/liveEvents.ts'
import { readAgain } from '#renderer/api/readAgain.ts'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { SandboxHead } from './head/SandboxHead.tsx'
import { ActivitySection } from './history/ActivitySection.tsx'
import { CommandsSection } from './history/CommandsSection.tsx'
import { PortsSection } from './ports/PortsSection.tsx'
import { portsKey } from './ports/usePorts.ts'
import { ProcessesSection } from './processes/ProcessesSection.tsx'
import { ShareSection } from './share/ShareSection.tsx'
import { UsageSection } from './usage/UsageSection.tsx'

type SandboxDetailsProps = {
  sandbox: Sandbox
  visible: boolean
  snapshots: ReactNode
}

/** Details and actions of a sandbox. Reads nothing while not `visible`. */
export function SandboxDetails({ sandbox, visible, snapshots }: SandboxDetailsProps) {
  useLiveDetails(sandbox)
  return (
    <div className="size-full overflow-y-auto">
      <SandboxHead sandbox={sandbox} />
      <UsageSection sandbox={sandbox} visible={visible} />
      <ProcessesSection sandbox={sandbox} visible={visible} />
      <PortsSection sandbox={sandbox} visible={visible} />
      {snapshots}
      <CommandsSection sandbox={sandbox} visible={visible} />
      <ActivitySection sandbox={sandbox} visible={visible} />
      <ShareSection sandbox={sandbox} />
    </div>
  )
}

/** Refetches data of a sandbox that is not polled, on events. */
function useLiveDetails({ id }: Sandbox): void {
  const queryClient = useQueryClient()
  useLiveEvent((event) => {
    const ready = event.type === 'ready'
    if (ready || (event.type === 'sandbox.changed' && event.sandbox.id === id)) {
      void readAgain(queryClient, portsKey(id))
    }
  })
}
