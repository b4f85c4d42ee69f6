import { findFreeName, getBasename, getDirname, joinPath } from '../paths.ts'
import { ConflictDialog } from './ConflictDialog.tsx'
import type { Transfer } from './transferList.ts'
import type { TransferQueue } from './transferQueue.ts'

type TransferConflictsProps = {
  queue: TransferQueue
  transfers: readonly Transfer[]
  namesIn: (folder: string) => ReadonlySet<string>
}

/** Dialog for the first upload whose target already exists, if any. */
export function TransferConflicts({ queue, transfers, namesIn }: TransferConflictsProps) {
  const conflicts = transfers.filter(({ state }) => state === 'asking')
  const [conflict] = conflicts
  if (!conflict) return null
  return (
    <ConflictDialog
      key={conflict.id}
      transfer={conflict}
      count={conflicts.length}
      onChoose={(choice, forAll) => {
        for (const { id, path } of forAll ? conflicts : [conflict]) {
          const into = getDirname(path)
          const other = () => joinPath(into, findFreeName(getBasename(path), namesIn(into)))
          queue.settle(id, choice === 'both' ? { path: other() } : choice)
        }
      }}
    />
  )
}
