import type { FamilyId } from '#shared/contract/families.ts'
import type { ModelServerId } from '#shared/contract/providers.ts'
import type { PersonSession } from './personSession.ts'
import { sendSheet } from './sheetForms.ts'

type SheetOptions = { origin: string; session: PersonSession; key: string }

/** Gives the key of a provider by the form of its sheet, as it is without a browser. @returns the page that follows */
export function giveProviderKey({ key, family, ...window }: SheetOptions & { family: FamilyId }): Promise<string> {
  return sendSheet({ ...window, body: { purpose: 'provider_key', family }, fields: { api_key: key } })
}

/** Enters the key of the user's own model server. */
export function giveServerKey({ key, id, ...window }: SheetOptions & { id: ModelServerId }): Promise<string> {
  return sendSheet({ ...window, body: { purpose: 'server_key', server_id: id }, fields: { api_key: key } })
}
