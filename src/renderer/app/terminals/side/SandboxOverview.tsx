import { SandboxDetails } from '#renderer/features/sandboxes/details/SandboxDetails.tsx'
import { SnapshotsSection } from '#renderer/features/snapshots/SnapshotsSection.tsx'
import type { Sandbox } from '#shared/contract/sandboxes.ts'

type SandboxOverviewProps = { sandbox: Sandbox; visible: boolean; show: (sandbox: Sandbox) => void }

export function SandboxOverview({ sandbox, visible, show }: SandboxOverviewProps) {
  return (
    <SandboxDetails
      sandbox={sandbox}
      visible={visible}
      snapshots={<SnapshotsSection sandbox={sandbox} visible={visible} onForked={show} />}
    />
  )
}
