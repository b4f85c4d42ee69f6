import { z } from 'zod'
import { deviceStore, type TextStore } from '#renderer/storage/textStore.ts'
import { Attachment } from '#shared/contract/chatLibrary.ts'

export const Draft = z.object({ text: z.string(), attachments: z.array(Attachment) })
export type Draft = z.infer<typeof Draft>
export const emptyDraft: Draft = { text: '', attachments: [] }

/** Reads a draft stored across page loads, per conversation and for the next new one. */
export function readDraft(place: string, store: TextStore = deviceStore): Draft {
  try {
    return Draft.parse(JSON.parse(store.get(buildKey(place)) ?? 'null'))
  } catch {
    return emptyDraft // missing, or in an unknown format
  }
}

/** Drops the draft if the storage is full. */
export function storeDraft(place: string, draft: Draft, store: TextStore = deviceStore): void {
  const isEmpty = draft.text === '' && draft.attachments.length === 0
  const isStored = !isEmpty && store.set(buildKey(place), JSON.stringify(draft))
  if (!isStored) store.remove(buildKey(place)) // otherwise an older draft would be restored
}

function buildKey(place: string): string {
  return `steward.chat.draft.${place}`
}
