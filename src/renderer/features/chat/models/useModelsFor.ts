import { useModels } from '../data/useModels.ts'
import { findFirstModel } from './modelGroups.ts'
import { readRecentModels } from './recentModels.ts'

/** Returns the selected models, otherwise those of the last chat, otherwise the first available one. */
export function useModelsFor(chosen: readonly string[]): string[] {
  const { data: listed } = useModels()
  if (chosen.length > 0) return [...chosen]
  const usable = readRecentModels().filter((name) => listed?.some(({ id, available }) => id === name && available))
  if (usable.length > 0) return usable
  const first = findFirstModel(listed ?? [])
  return first === undefined ? [] : [first]
}
