import type { IntentRecord } from '#shared/contract/intents.ts'

/** All that a person decides on. When any of it changes, it is something else that would be approved. */
export function buildContentKey({
  id,
  asker,
  reason,
  sentence,
  fields,
  raw,
  address,
  needs_confirmation,
}: IntentRecord): string {
  return JSON.stringify([id, asker, reason, sentence, fields, raw, address, needs_confirmation])
}
