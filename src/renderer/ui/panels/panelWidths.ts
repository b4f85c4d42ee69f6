/** In pixels. */
export type PanelWidth = { initial: number; min: number; max: number }

const keyOf = (id: string) => `steward.panels.${id}`

/** The width a person gave the panel last. */
export function keptWidth(id: string, { initial, min, max }: PanelWidth): number {
  const kept = Number.parseFloat(localStorage.getItem(keyOf(id)) ?? '')
  return Number.isFinite(kept) ? Math.min(Math.max(kept, min), max) : initial
}

export function keepWidth(id: string, width: number): void {
  localStorage.setItem(keyOf(id), String(Math.round(width)))
}

/** The list at the left has one width in all screens. */
export const listId = 'list'
export const listWidth: PanelWidth = { initial: 260, min: 200, max: 420 }
