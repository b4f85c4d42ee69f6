/**
 * Names of the test registry that behave in a way of their own, so that each outcome of a real registrar can be seen
 * and tested: the label begins with one of these.
 */
export const magicNames = {
  /** Costs more than other names. */
  premium: 'premium-',
  /** Pending for some seconds after its registration. */
  async: 'async-',
  /** Registered by someone else. */
  taken: 'taken-',
  /** Available when checked, taken when registered. */
  takenAtPurchase: 'taken-at-purchase-',
  /** The registrar does not answer. */
  down: 'down-',
  /** Expired; only its former owner can still renew it. */
  redemption: 'redemption-',
  /** Expires a week after its registration. */
  expiring: 'expiring-',
} as const
export type MagicName = keyof typeof magicNames

export function findMagicName(name: string): MagicName | undefined {
  const matching = (Object.keys(magicNames) as MagicName[]).filter((it) => name.startsWith(magicNames[it])) // its very keys
  return matching.sort((a, b) => magicNames[b].length - magicNames[a].length)[0]
}
