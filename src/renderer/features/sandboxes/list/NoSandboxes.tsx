import { Box, Plus } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { newSandboxKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { EmptyState } from '#renderer/ui/EmptyState.tsx'
import { Kbd } from '#renderer/ui/Kbd.tsx'

export function NoSandboxes({ onNew }: { onNew: () => void }) {
  return (
    <EmptyState
      icon={Box}
      title="Your first sandbox"
      description="A sandbox is a small isolated machine with its own files, processes and network. Open terminals, let an agent work in it, and delete it when you are done."
      actions={
        <>
          <Button variant="primary" icon={Plus} onClick={onNew}>
            New sandbox
          </Button>
          <Kbd shortcut={newSandboxKeys} />
        </>
      }
    >
      <ul className="flex flex-col gap-1.5">
        <li>Programs keep running when you close this window.</li>
        <li>Agents and terminals work in the same sandbox.</li>
        <li>Your home folder, your keys and services on this computer are out of reach.</li>
      </ul>
    </EmptyState>
  )
}
