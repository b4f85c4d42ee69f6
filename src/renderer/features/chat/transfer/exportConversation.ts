import { signWindowUrl } from '#renderer/api/windowLink.ts'
import { exportConversation } from '#shared/contract/chatLibrary.ts'
import type { ConversationId } from '#shared/contract/chats.ts'
import { buildRequest } from '#shared/contract/route.ts'

/** Starts a download by the browser, with the file name set by the agent. */
export function startExport(conversationId: ConversationId, format: 'json' | 'markdown'): void {
  const link = document.createElement('a')
  link.href = signWindowUrl(buildRequest(exportConversation, { conversationId, format }).path)
  link.download = ''
  link.click()
}
