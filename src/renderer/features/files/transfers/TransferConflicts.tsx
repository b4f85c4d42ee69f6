import { freeName, getBasename, getDirname, joinPath } from '../paths.ts'
import { ConflictDialog } from './ConflictDialog.tsx'
import type { Transfer } from './transferList.ts'
import type { TransferQueue } from './transferQueue.ts'

type TransferConflictsProps = {
  queue: TransferQueue
  transfers: readonly Transfer[]
  /** Returns the names in a folder. */
  namesIn: (folder: string) => ReadonlySet<string>
}

/** The dialog of the first upload whose file exists already, if any. */
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
          const other = () => joinPath(into, freeName(getBasename(path), namesIn(into)))
          queue.settle(id, choice === 'both' ? { path: other() } : choice)
        }
      }}
    />
  )
}
