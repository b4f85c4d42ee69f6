import { Link2Off } from 'lucide-react'
import { EmptyState } from '../../ui/EmptyState.tsx'

export function LinkEnded() {
  return (
    <main className="h-full">
      <h1 className="sr-only">Terminal</h1>
      <EmptyState
        icon={Link2Off}
        title="This link has expired"
        description="Terminal links last up to one hour. They end earlier if the sandbox stops or their API key is revoked. Ask for a new link."
      />
    </main>
  )
}
