import { persistValue, perWindow } from '#renderer/storage/persistValue.ts'
import { type Change, usePersistedState } from '#renderer/storage/usePersisted.ts'
import { nothingSelected, Selection } from './selection.ts'

const storedSelection = persistValue('steward.terminals.selection', Selection, nothingSelected, perWindow)

export type ChangeSelection = Change<Selection>

export function useSelection(): [Selection, ChangeSelection] {
  return usePersistedState(storedSelection)
}

export function readLastSandboxId(): string | null {
  return storedSelection.read().sandboxId
}
