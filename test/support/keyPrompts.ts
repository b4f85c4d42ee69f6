import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelServerId } from '#shared/contract/providers.ts'
import type { PersonSession } from './personSession.ts'
import { sendSecurePrompt } from './securePromptForms.ts'

type SecurePromptOptions = { origin: string; session: PersonSession; key: string }

/** Gives the key of a provider by the form of its secure prompt, as it is without a browser. @returns the page that follows */
export function giveProviderKey({
  key,
  family,
  ...window
}: SecurePromptOptions & { family: FamilyId }): Promise<string> {
  return sendSecurePrompt({ ...window, body: { purpose: 'provider_key', family }, fields: { api_key: key } })
}

/** Enters the key of the user's own model server. */
export function giveServerKey({ key, id, ...window }: SecurePromptOptions & { id: ModelServerId }): Promise<string> {
  return sendSecurePrompt({ ...window, body: { purpose: 'server_key', server_id: id }, fields: { api_key: key } })
}
