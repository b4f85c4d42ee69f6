import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { getBasename, getDirname } from '../paths.ts'
import type { Transfer } from './transferList.ts'

export type ConflictChoice = 'replace' | 'both' | 'skip'

type ConflictDialogProps = {
  transfer: Transfer
  /** Total number of conflicts. */
  count: number
  onChoose: (choice: ConflictChoice, forAll: boolean) => void
}

export function ConflictDialog({ transfer, count, onChoose }: ConflictDialogProps) {
  const [forAll, setForAll] = useState(false)
  const choose = (choice: ConflictChoice) => onChoose(choice, forAll)
  return (
    <Dialog
      open
      onOpenChange={() => choose('skip')}
      title={`${getBasename(transfer.path)} already exists`}
      description={`In ${getDirname(transfer.path)}. Replacing it cannot be undone.`}
      width="narrow"
      footer={
        <>
          <Button onClick={() => choose('skip')}>Skip</Button>
          <Button onClick={() => choose('both')}>Keep both</Button>
          <Button variant="primary" onClick={() => choose('replace')}>
            Replace
          </Button>
        </>
      }
    >
      {count > 1 && <Checkbox label={`Do this for all ${count}`} checked={forAll} onChange={setForAll} />}
    </Dialog>
  )
}
