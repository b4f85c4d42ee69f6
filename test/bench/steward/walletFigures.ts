import { randomBytes } from 'node:crypto'
import { keccak256 } from 'ox/Hash'
import { createIntentSigner } from '#agent/signer/intentSigner.ts'
import { fullCost } from '#agent/wallet/vaultHeader.ts'
import { isSignedByAddress } from '#service/auth/signInSignature.ts'
import { type AutomatonProfile, canonicalizeProfile } from '#shared/contract/automatons.ts'
import { Intent } from '#shared/contract/intents.ts'
import { openTestWallet } from '../../support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '../../support/fixtures/temporaryFolder.ts'
import { type Compared, measureTogether } from '../figures.ts'
import { bareScrypt, benchPhrase, ethersWallet, naclSigner, viemAccount } from '../peers/otherWallets.ts'

export type WalletFigures = Record<'typedData' | 'ed25519' | 'verify' | 'canonicalHash' | 'unlock', Compared>

const passphrase = 'four words make one'

/**
 * Measures the wallet with a vault file. Each payload is built, displayed, signed with a key unsealed for it, and
 * verified.
 */
export async function walletFigures(tries: (count: number) => number): Promise<WalletFigures> {
  const { wallet, close } = openTestWallet({ folder: temporaryFolder('bench-wallet'), cost: fullCost })
  try {
    await wallet.addPhrase({ phrase: benchPhrase, writtenDown: true, passphrase })
    const signer = createIntentSigner({ keys: wallet, domainName: 'AIWS Automaton', now: Date.now, randomBytes })
    const sign = async (intent: object) => signer.sign(await signer.prepare(Intent.parse(intent)))
    const profile = createProfile(wallet.account('evm').address)
    const payloadHash = hashProfile(profile)
    const viem = viemAccount()
    const ethers = ethersWallet()
    const nacl = naclSigner()
    const text = 'A text of ordinary length, signed as it stands.'
    const signature = await ethers.signText(text)
    const message = { chainType: 'evm', address: ethers.address } as const

    return {
      typedData: await measureTogether(tries(300), {
        mine: (index) => sign({ kind: 'identity.register', profile, nonce: `nonce${index}` }),
        peer: (index) => viem.sign({ automatonId: profile.automaton_id, nonce: `nonce${index}`, payloadHash }),
      }),
      ed25519: await measureTogether(tries(300), {
        mine: (index) => sign({ kind: 'message', text: `${text} ${index}`, chain_type: 'solana' }),
        peer: async (it) => nacl.sign(`${text} ${it}`),
      }),
      verify: await measureTogether(tries(300), {
        mine: () => isSignedByAddress(message, { text, signature }),
        peer: async () => ethers.verify(text, signature),
      }),
      canonicalHash: await measureTogether(tries(3000), {
        mine: async (it) => hashProfile({ ...profile, bio: `Bio ${it}` }),
        peer: async (index) => ethers.canonicalHash({ ...profile, bio: `Bio ${index}` }),
      }),
      unlock: await measureTogether(tries(20), {
        async mine() {
          wallet.lock()
          await wallet.unlock(passphrase)
        },
        peer: () => bareScrypt(passphrase),
      }),
    }
  } finally {
    close()
  }
}

function createProfile(address: string): AutomatonProfile {
  return {
    automaton_id: 'a1b2c3d4-0000-4000-8000-000000000000',
    automaton_address: address,
    creator_address: '0x2222222222222222222222222222222222222222',
    name: 'Bench',
    bio: 'Registers nothing.',
  }
}

function hashProfile(profile: AutomatonProfile): `0x${string}` {
  return keccak256(new TextEncoder().encode(canonicalizeProfile(profile)), { as: 'Hex' })
}
