import { Box, Plus } from 'lucide-react'
import { Button } from '../../../ui/Button.tsx'
import { newSandboxKeys } from '../../../ui/commands/terminalSafeKeys.ts'
import { EmptyState } from '../../../ui/EmptyState.tsx'
import { Kbd } from '../../../ui/Kbd.tsx'

export function NoSandboxes({ onNew }: { onNew: () => void }) {
  return (
    <EmptyState
      icon={Box}
      title="Your first sandbox"
      description="A sandbox behaves like one small machine: its own files, processes and network, apart from yours. Open terminals in it, let an agent work in it, and delete it when you are done: nothing is left behind."
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
        <li>Programs in it go on when you close this window.</li>
        <li>What one terminal starts, every other one and the API can reach.</li>
        <li>Your home folder, your keys and this machine’s network services cannot be seen from inside.</li>
      </ul>
    </EmptyState>
  )
}
