import type { Log } from '#platform/logging/log.ts'
import type { Clock } from '#platform/time/clock.ts'
import { chatLimits } from '#shared/contract/chats.ts'
import type { ChatStore } from './chatStore.ts'

const everyMs = 3600 * 1000

/** Permanently removes conversations that were deleted more than a day ago, and attachments that no message uses. */
export function startChatPurge({ store, passedMs, log }: { store: ChatStore; passedMs: Clock['passedMs']; log: Log }): {
  close(): void
} {
  const purge = (): void => {
    try {
      const before = passedMs() - chatLimits.restorableMs
      store.conversations.purge(before)
      store.attachments.purge(before)
    } catch (error) {
      log.warn('failed to purge deleted chats', { error })
    }
  }
  purge()
  const timer = setInterval(purge, everyMs)
  return { close: () => clearInterval(timer) }
}
