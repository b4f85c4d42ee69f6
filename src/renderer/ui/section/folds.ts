import { z } from 'zod'
import { persistValue } from '../../storage/persistValue.ts'
import { usePersisted } from '../../storage/usePersisted.ts'

const storedFolds = persistValue('steward.details.folds', z.record(z.string(), z.boolean()), {})

/** Whether a section is open, shared by all sandboxes. */
export function useFold(id: string, openAtFirst: boolean): [open: boolean, setOpen: (open: boolean) => void] {
  const folds = usePersisted(storedFolds)
  return [folds[id] ?? openAtFirst, (open) => storedFolds.write({ ...storedFolds.read(), [id]: open })]
}
