import { chatLimits } from '#shared/contract/chats.ts'
import { shownLine } from '#shared/shownLine.ts'

export const newChat = 'New chat'
const shownCharacters = 80

/** As a conversation is called by its first message. */
export function titleOf(text: string, attachment?: string): string {
  return cleanTitle(text, shownCharacters) || cleanTitle(attachment ?? '', shownCharacters) || newChat
}

/** One line without control characters, of whole words where it must be cut; empty where nothing is left. */
export function cleanTitle(text: string, most: number = chatLimits.titleCharacters): string {
  const line = text
    .slice(0, 10 * most)
    // They would turn what stands beside the title, too.
    .replace(/[\u202A-\u202E\u2066-\u2069]+/g, '')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= most) return line
  const cut = characters.slice(0, most - 1).join('')
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), cut.length - 20))
  return `${words.trimEnd()}…`
}

/** Name of a chat where it asks for something, such as in Approvals. */
export function chatName(title: string): string {
  return `Chat “${shownLine(title, 60)}”`
}
