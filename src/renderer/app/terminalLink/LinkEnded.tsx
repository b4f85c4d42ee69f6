import { Link2Off } from 'lucide-react'
import { EmptyState } from '../../ui/EmptyState.tsx'

export function LinkEnded() {
  return (
    <main className="h-full">
      <h1 className="sr-only">Terminal</h1>
      <EmptyState
        icon={Link2Off}
        title="This link does not open a terminal"
        description="A terminal link lasts an hour, and ends with its sandbox. Ask whoever sent it for a new one."
      />
    </main>
  )
}
