/**
 * Names of the test registry that behave in a way of their own, so that each outcome of a real registrar can be seen
 * and tested: the label begins with one of these.
 */
export const magicNames = {
  /** It costs more than others. */
  premium: 'premium-',
  /** It is pending for some seconds after it was registered. */
  async: 'async-',
  /** Somebody else has it. */
  taken: 'taken-',
  /** It is free when it is checked, and taken when it is registered. */
  takenAtPurchase: 'taken-at-purchase-',
  /** The registrar does not answer. */
  down: 'down-',
  /** It expired, and its former owner alone can still renew it. */
  redemption: 'redemption-',
  /** It expires a week after it was registered. */
  expiring: 'expiring-',
} as const
export type MagicName = keyof typeof magicNames

export function findMagicName(name: string): MagicName | undefined {
  const matching = (Object.keys(magicNames) as MagicName[]).filter((it) => name.startsWith(magicNames[it])) // its very keys
  return matching.sort((a, b) => magicNames[b].length - magicNames[a].length)[0]
}
