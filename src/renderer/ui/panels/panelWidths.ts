import { z } from 'zod'
import { type Persisted, persistValue } from '../../storage/persistValue.ts'

/** In pixels. */
export type PanelWidth = { initial: number; min: number; max: number }

/** Returns the last width that the user set for the panel, within its limits. */
export function readWidth(id: string, { initial, min, max }: PanelWidth): number {
  return Math.min(Math.max(openStore(id, initial).read(), min), max)
}

export function storeWidth(id: string, width: number): void {
  openStore(id, width).write(Math.round(width))
}

function openStore(id: string, fallback: number): Persisted<number> {
  return persistValue(`steward.panels.${id}`, z.number(), fallback)
}

/** Shared id of the list at the left, so that it has the same width on all screens. */
export const listId = 'list'
export const listWidth: PanelWidth = { initial: 260, min: 200, max: 420 }
