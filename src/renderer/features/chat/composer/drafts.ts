import { z } from 'zod'
import { Attachment } from '../../../../shared/contract/chatLibrary.ts'

/** What was written and attached, and not sent. */
export const Draft = z.object({ text: z.string(), attachments: z.array(Attachment) })
export type Draft = z.infer<typeof Draft>
export const emptyDraft: Draft = { text: '', attachments: [] }

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Beyond the life of the page, one for each conversation and one for the next. */
export function keptDraft(place: string, storage: Store): Draft {
  try {
    return Draft.parse(JSON.parse(storage.getItem(keyOf(place)) ?? 'null'))
  } catch {
    return emptyDraft // there is none, or it was written by something else
  }
}

/** Where there is no room for it, it is not kept. */
export function keepDraft(place: string, draft: Draft, storage: Store): void {
  if (draft.text === '' && draft.attachments.length === 0) {
    storage.removeItem(keyOf(place))
    return
  }
  try {
    storage.setItem(keyOf(place), JSON.stringify(draft))
  } catch {
    storage.removeItem(keyOf(place)) // an older one would be taken for it
  }
}

function keyOf(place: string): string {
  return `steward.chat.draft.${place}`
}
