import { PencilLine } from 'lucide-react'
import type { Keyring, KeyringId } from '#shared/contract/wallet.ts'
import { Button } from '../../ui/Button.tsx'

/** Reminds of phrases that are on no paper yet. */
export function NotWrittenDown({ keyrings, onReveal }: { keyrings: Keyring[]; onReveal: (id: KeyringId) => void }) {
  return keyrings
    .filter(({ kind, written_down: isWritten }) => kind === 'phrase' && !isWritten)
    .map(({ id, label }) => (
      <div key={id} className="flex items-center gap-3 rounded-card border border-line bg-caution-soft p-3">
        <PencilLine aria-hidden className="size-4 shrink-0 text-caution" />
        <p className="min-w-0 flex-1">
          <span className="font-medium text-text">“{label}” is not written down.</span>{' '}
          <span className="text-muted">If this machine is lost, everything in it is lost.</span>
        </p>
        <Button size="small" onClick={() => onReveal(id)}>
          Write it down
        </Button>
      </div>
    ))
}
