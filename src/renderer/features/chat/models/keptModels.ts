import { persisted } from '#renderer/ui/storage/persisted.ts'
import { ModelNames } from '#shared/contract/chats.ts'

const storedModels = persisted('steward.chat.models', ModelNames, [])

/** The models of the last chat, for the next one. */
export function keptModels(): string[] {
  return storedModels.read()
}

export function keepModels(models: readonly string[]): void {
  storedModels.write([...models])
}
