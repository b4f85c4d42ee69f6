import { chatLimits } from '#shared/contract/chats.ts'
import { sanitizeLine } from '#shared/shownLine.ts'

export const newChat = 'New chat'
const titleCharacters = 80

/** As a conversation is called by its first message. */
export function createTitle(text: string, attachment?: string): string {
  return cleanTitle(text, titleCharacters) || cleanTitle(attachment ?? '', titleCharacters) || newChat
}

/** One line without control characters, of whole words where it must be cut; empty where nothing is left. */
export function cleanTitle(text: string, max: number = chatLimits.titleCharacters): string {
  const line = text
    .slice(0, 10 * max)
    // They would turn what stands beside the title, too.
    .replace(/[\u202A-\u202E\u2066-\u2069]+/g, '')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= max) return line
  const cut = characters.slice(0, max - 1).join('')
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), cut.length - 20))
  return `${words.trimEnd()}…`
}

/** Name of a chat where it asks for something, such as in Approvals. */
export function toChatName(title: string): string {
  return `Chat “${sanitizeLine(title, 60)}”`
}
