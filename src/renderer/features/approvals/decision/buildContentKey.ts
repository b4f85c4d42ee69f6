import type { IntentRecord } from '#shared/contract/intents.ts'

/** Serializes everything that the decision covers. A different key means that different content would be approved. */
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
