import type { IntentRecord } from '#shared/contract/intents.ts'

/** Serializes everything that the user decides on. A change means that something else would be approved. */
export function buildContentKey({
  id,
  requester,
  reason,
  sentence,
  fields,
  raw,
  address,
  needs_confirmation,
}: IntentRecord): string {
  return JSON.stringify([id, requester, reason, sentence, fields, raw, address, needs_confirmation])
}
