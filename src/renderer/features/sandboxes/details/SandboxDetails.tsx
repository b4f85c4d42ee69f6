import type { ReactNode } from 'react'
import type { Sandbox } from '#shared/contract/sandboxes.ts'
import { SandboxHead } from './head/SandboxHead.tsx'
import { ActivitySection } from './history/ActivitySection.tsx'
import { CommandsSection } from './history/CommandsSection.tsx'
import { PortsSection } from './ports/PortsSection.tsx'
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
