import type { LocalEvents } from '../base/localEvents.ts'
import type { ReferenceHolder } from '../base/removedThings.ts'
import type { ChatStore } from './chatStore.ts'

/** Detaches conversations from a deleted sandbox, so that models do not try to use it, and notifies the user. */
export function createChatReferences({
  store,
  publish,
}: {
  store: Pick<ChatStore, 'conversations' | 'atomically'>
  publish: LocalEvents['publish']
}): ReferenceHolder {
  return {
    kind: 'sandbox',
    referred: store.conversations.sandboxIds,
    onRemoved({ id, name }) {
      const detached = store.atomically(() => {
        const conversations = store.conversations.inSandbox(id)
        for (const conversation of conversations) {
          const tools = { ...conversation.tools, sandbox_id: null }
          store.conversations.save({ ...conversation, tools, notice: describeDetached(name) })
        }
        return conversations
      })
      for (const conversation of detached) publish({ type: 'chat.changed', conversation_id: conversation.id })
    },
  }
}

function describeDetached(name: string): string {
  return `The sandbox “${name}” was deleted. This chat no longer works in a sandbox.`
}
