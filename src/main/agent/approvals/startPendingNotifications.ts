import type { LocalEvents } from '../base/localEvents.ts'
import type { ApprovalDialog } from './approvalDialog.ts'

type Options = { dialog: Pick<ApprovalDialog, 'announce'>; events: LocalEvents }

/** Announces each intent once when it starts waiting. @returns the unsubscribe function */
export function startPendingNotifications({ dialog, events }: Options): () => void {
  const announced = new Set<string>()
  return events.subscribe((event) => {
    if (event.type !== 'intent.changed') return
    const { id, state } = event.intent
    if (state !== 'waiting') announced.delete(id)
    if (state !== 'waiting' || announced.has(id)) return
    announced.add(id)
    dialog.announce(event.intent, () => events.publish({ type: 'intent.show', intent_id: id }))
  })
}
