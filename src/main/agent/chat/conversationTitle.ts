import { chatLimits } from '#shared/contract/chats.ts'
import { sanitizeLine } from '#shared/untrustedText.ts'

export const newChat = 'New chat'
const titleCharacters = 80

export function createTitle(text: string, attachment?: string): string {
  return cleanTitle(text, titleCharacters) || cleanTitle(attachment ?? '', titleCharacters) || newChat
}

/** Returns one line without control characters, truncated at a word boundary if necessary. May be empty. */
export function cleanTitle(text: string, max: number = chatLimits.titleCharacters): string {
  const line = text
    .slice(0, 10 * max)
    // Bidirectional controls would also reorder the text next to the title.
    .replace(/[\u202A-\u202E\u2066-\u2069]+/g, '')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
  const characters = [...line]
  if (characters.length <= max) return line
  const cut = characters.slice(0, max - 1).join('')
  const head = cut.slice(0, Math.max(cut.lastIndexOf(' '), cut.length - 20))
  return `${head.trimEnd()}…`
}

/** Returns the name of a chat as a requester, for example in Approvals. */
export function toChatName(title: string): string {
  return `Chat “${sanitizeLine(title, 60)}”`
}
