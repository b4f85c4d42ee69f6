import { z } from 'zod'
import { persistValue } from '#renderer/storage/persistValue.ts'
import { deviceStore, type TextStore } from '#renderer/storage/textStore.ts'
import { Attachment } from '#shared/contract/chatLibrary.ts'

export const Draft = z.object({ text: z.string(), attachments: z.array(Attachment) })
export type Draft = z.infer<typeof Draft>
export const emptyDraft: Draft = { text: '', attachments: [] }

/** Reads a draft stored across page loads, per conversation and for the next new one. */
export function readDraft(place: string, store: TextStore = deviceStore): Draft {
  return openDraft(place, store).read()
}

/** Drops the draft if the storage is full. */
export function storeDraft(place: string, draft: Draft, store: TextStore = deviceStore): void {
  const stored = openDraft(place, store)
  const isEmpty = draft.text === '' && draft.attachments.length === 0
  if (isEmpty) stored.clear()
  else stored.write(draft)
}

function openDraft(place: string, store: TextStore) {
  return persistValue(`steward.chat.draft.${place}`, Draft, emptyDraft, { stores: [store], onRefusal: 'discard' })
}
