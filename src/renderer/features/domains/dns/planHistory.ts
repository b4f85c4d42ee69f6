import type { DnsPlan } from '#shared/contract/localDomains.ts'

/** Returns the plans that changed at least one record, in the same order. */
export function listAppliedPlans(plans: readonly DnsPlan[]): DnsPlan[] {
  return plans.filter((plan) => plan.steps.some(({ state }) => state === 'done'))
}

/** Formats a heading such as `2 changes`, `Undo, 1 change` or `1 of 3 changes`. */
export function formatPlanHeading({ steps, undo_of: undoOf }: Pick<DnsPlan, 'steps' | 'undo_of'>): string {
  const done = steps.filter(({ state }) => state === 'done').length
  const noun = steps.length === 1 ? 'change' : 'changes'
  const count = done === steps.length ? `${done} ${noun}` : `${done} of ${steps.length} ${noun}`
  return undoOf === null ? count : `Undo, ${count}`
}
