export type PassphraseStrength = {
  /** Whether guessing it is infeasible. */
  isStrong: boolean
  /** Sentence such as `It would take about 3 months to guess.` */
  sentence: string
}

/** Guessing rate of an attacker who has the encrypted wallet: scrypt at N = 2^17 on many graphics cards. */
const guessesPerSecond = 20_000
const year = 365 * 24 * 3600
const strongSeconds = 100 * year

/**
 * Estimates the strength of a passphrase conservatively. Consecutive letters count as a dictionary word and digits as a
 * date, so that a long word with a year does not count as strong.
 */
export function measurePassphraseStrength(passphrase: string): PassphraseStrength {
  const seconds = 2 ** (estimateBits(passphrase) - 1) / guessesPerSecond
  if (seconds < strongSeconds)
    return { isStrong: false, sentence: `It would take about ${formatDuration(seconds)} to guess.` }
  return { isStrong: true, sentence: 'It would take longer than a lifetime to guess.' }
}

const runs = /\p{L}+|\p{N}+|[^\p{L}\p{N}]+/gu

function estimateBits(passphrase: string): number {
  const parts = passphrase.match(runs) ?? []
  const characters = new Set<string>()
  return parts.reduce((bits, part) => {
    const again = characters.has(part.toLowerCase())
    characters.add(part.toLowerCase())
    return bits + (again ? 1 : estimateRunBits(part))
  }, 0)
}

function estimateRunBits(run: string): number {
  const different = new Set(run).size
  if (different === 1) return 4 + Math.log2(run.length)
  if (/^\p{L}/u.test(run))
    return Math.min(4.7 * different, 13) + Math.max(0, run.length - 12) + estimateCapitalBits(run)
  if (/^\p{N}/u.test(run)) return isCounted(run) ? 4 : Math.min(3.3 * run.length, 12) + Math.max(0, run.length - 8)
  return run === ' ' ? 1 : Math.min(4 * run.length, 12)
}

/** A leading capital adds little, because it is common. Others add more. */
function estimateCapitalBits(run: string): number {
  const capitals = run.slice(1).match(/\p{Lu}/gu)?.length ?? 0
  return capitals === 0 || capitals === run.length - 1 ? 0.5 : 1 + Math.min(capitals, 6)
}

function isCounted(run: string): boolean {
  return '01234567890123456789'.includes(run) || '98765432109876543210'.includes(run)
}

function formatDuration(seconds: number): string {
  const units = [
    ['year', year],
    ['month', year / 12],
    ['day', 24 * 3600],
    ['hour', 3600],
  ] as const
  const [name, length] = units.find((it) => seconds >= it[1]) ?? ['minute', 60]
  const count = Math.max(1, Math.round(seconds / length))
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
