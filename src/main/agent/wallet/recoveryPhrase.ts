import { pbkdf2, randomBytes } from 'node:crypto'
import { AppError } from '#shared/appError.ts'

const lengths: readonly number[] = [12, 15, 18, 21, 24]

/**
 * Converts entropy to a phrase of English words (BIP-39).
 * @see https://github.com/bitcoin/bips/blob/master/bip-0039.mediawiki
 */
export async function toPhrase(entropy: Uint8Array): Promise<string> {
  const { entropyToMnemonic, wordlist } = await loadBip39()
  return entropyToMnemonic(entropy, wordlist)
}

/** Creates a phrase from system randomness. */
export async function createPhrase(words: 12 | 24): Promise<string> {
  const entropy = randomBytes(words === 12 ? 16 : 32)
  try {
    return await toPhrase(entropy)
  } finally {
    entropy.fill(0)
  }
}

/**
 * Converts a phrase to its entropy, which the caller must overwrite. Errors never contain a word.
 * @throws AppError `wallet/phrase`
 */
export async function parsePhrase(phrase: string): Promise<Uint8Array> {
  const { mnemonicToEntropy, validateMnemonic, wordlist } = await loadBip39()
  const words = phrase.normalize('NFKD').trim().toLowerCase().split(/\s+/)
  if (!lengths.includes(words.length)) {
    throw new AppError('wallet/phrase', `A phrase has 12, 15, 18, 21 or 24 words, not ${assertWordCount(words)}.`)
  }
  const wordSet = new Set(wordlist)
  const unknown = words.flatMap((word, index) => (wordSet.has(word) ? [] : [index + 1]))
  if (unknown.length === 1) throw new AppError('wallet/phrase', `Word ${unknown[0]} is not in the word list.`)
  if (unknown.length > 1) throw new AppError('wallet/phrase', `Words ${unknown.join(', ')} are not in the word list.`)
  const text = words.join(' ')
  if (validateMnemonic(text, wordlist)) return mnemonicToEntropy(text, wordlist)
  throw new AppError('wallet/phrase', 'All words are valid, but the phrase is not. Check for a wrong or swapped word.')
}

/** Derives the 64-byte seed on a pool thread. The caller must overwrite it. */
export async function toSeed(entropy: Uint8Array): Promise<Buffer> {
  const phrase = Buffer.from(await toPhrase(entropy), 'utf8')
  try {
    return await new Promise((resolve, reject) => {
      pbkdf2(phrase, 'mnemonic', 2048, 64, 'sha512', (error, seed) => (error ? reject(error) : resolve(seed)))
    })
  } finally {
    phrase.fill(0)
  }
}

/** A phrase has three words per four bytes. */
export function readLength(entropy: Uint8Array): number {
  return (entropy.length / 4) * 3
}

async function loadBip39() {
  const [{ entropyToMnemonic, mnemonicToEntropy, validateMnemonic }, { wordlist }] = await Promise.all([
    import('@scure/bip39'),
    import('@scure/bip39/wordlists/english'),
  ])
  return { entropyToMnemonic, mnemonicToEntropy, validateMnemonic, wordlist }
}

function assertWordCount(words: readonly string[]): number {
  return words[0] === '' ? 0 : words.length
}
