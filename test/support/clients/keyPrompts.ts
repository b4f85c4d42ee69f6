import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelServerId } from '#shared/contract/providers.ts'
import type { PersonSession } from './personSession.ts'
import { sendSecurePrompt } from './securePromptForms.ts'

type SecurePromptOptions = { origin: string; session: PersonSession; key: string }

/**
 * Submits the API key of a provider through the form of its secure prompt, without a browser.
 * @returns the next page
 */
export function giveProviderKey({
  key,
  family,
  ...window
}: SecurePromptOptions & { family: FamilyId }): Promise<string> {
  return sendSecurePrompt({ ...window, body: { purpose: 'provider_key', family }, fields: { api_key: key } })
}

/** Submits the API key of the user's model server. */
export function giveServerKey({ key, id, ...window }: SecurePromptOptions & { id: ModelServerId }): Promise<string> {
  return sendSecurePrompt({ ...window, body: { purpose: 'server_key', server_id: id }, fields: { api_key: key } })
}
