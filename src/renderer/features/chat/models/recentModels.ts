import { persistValue } from '#renderer/storage/persistValue.ts'
import { ModelNames } from '#shared/contract/chats.ts'

const storedModels = persistValue('steward.chat.models', ModelNames, [])

/** Returns the models of the last chat, used for the next one. */
export function readRecentModels(): string[] {
  return storedModels.read()
}

export function saveRecentModels(models: readonly string[]): void {
  storedModels.write([...models])
}
