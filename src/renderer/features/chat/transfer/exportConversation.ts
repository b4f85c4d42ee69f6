import { buildWindowAddress } from '#renderer/api/windowLink.ts'
import { exportConversation } from '#shared/contract/chatLibrary.ts'
import type { ConversationId } from '#shared/contract/chats.ts'
import { buildRequest } from '#shared/contract/route.ts'

/** The browser's own download, under the name that the agent gives it. */
export function startExport(conversationId: ConversationId, format: 'json' | 'markdown'): void {
  const link = document.createElement('a')
  link.href = buildWindowAddress(buildRequest(exportConversation, { conversationId, format }).path)
  link.download = ''
  link.click()
}
