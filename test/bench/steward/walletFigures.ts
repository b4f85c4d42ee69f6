import { randomBytes } from 'node:crypto'
import { keccak256 } from 'ox/Hash'
import { intentSigner } from '#agent/signer/intentSigner.ts'
import { fullCost } from '#agent/wallet/vaultHeader.ts'
import { isSignedByItsAddress } from '#service/auth/signInSignature.ts'
import { type AutomatonProfile, canonicalProfile } from '#shared/contract/automatons.ts'
import { Intent } from '#shared/contract/intents.ts'
import { temporaryFolder } from '../../support/temporaryFolder.ts'
import { walletOf } from '../../support/walletOf.ts'
import { type Compared, timedTogether } from '../figures.ts'
import { bareScrypt, benchPhrase, ethersWallet, naclSigner, viemAccount } from '../peers/otherWallets.ts'

export type WalletFigures = Record<'typedData' | 'ed25519' | 'verify' | 'canonicalHash' | 'unlock', Compared>

const passphrase = 'four words make one'

/** A whole wallet in a vault file: what it signs is built, shown, signed with a key that is unsealed for it, verified. */
export async function walletFigures(tries: (count: number) => number): Promise<WalletFigures> {
  const { wallet, close } = walletOf({ folder: temporaryFolder('bench-wallet'), cost: fullCost })
  try {
    await wallet.addPhrase({ phrase: benchPhrase, writtenDown: true, passphrase })
    const signer = intentSigner({ keys: wallet, domainName: 'AIWS Automaton', now: Date.now, randomBytes })
    const signed = async (intent: object) => signer.sign(await signer.prepare(Intent.parse(intent)))
    const profile = profileOf(wallet.account('evm').address)
    const payloadHash = hashOf(profile)
    const viem = viemAccount()
    const ethers = ethersWallet()
    const nacl = naclSigner()
    const text = 'A text of ordinary length, signed as it stands.'
    const signature = await ethers.signText(text)
    const message = { chainType: 'evm', address: ethers.address } as const

    return {
      typedData: await timedTogether(tries(300), {
        mine: (it) => signed({ kind: 'identity.register', profile, nonce: `nonce${it}` }),
        peer: (it) => viem.sign({ automatonId: profile.automaton_id, nonce: `nonce${it}`, payloadHash }),
      }),
      ed25519: await timedTogether(tries(300), {
        mine: (it) => signed({ kind: 'message', text: `${text} ${it}`, chain_type: 'solana' }),
        peer: async (it) => nacl.sign(`${text} ${it}`),
      }),
      verify: await timedTogether(tries(300), {
        mine: () => isSignedByItsAddress(message, { text, signature }),
        peer: async () => ethers.verify(text, signature),
      }),
      canonicalHash: await timedTogether(tries(3000), {
        mine: async (it) => hashOf({ ...profile, bio: `Bio ${it}` }),
        peer: async (it) => ethers.canonicalHash({ ...profile, bio: `Bio ${it}` }),
      }),
      unlock: await timedTogether(tries(20), {
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

function profileOf(address: string): AutomatonProfile {
  return {
    automaton_id: 'a1b2c3d4-0000-4000-8000-000000000000',
    automaton_address: address,
    creator_address: '0x2222222222222222222222222222222222222222',
    name: 'Bench',
    bio: 'Registers nothing.',
  }
}

function hashOf(profile: AutomatonProfile): `0x${string}` {
  return keccak256(new TextEncoder().encode(canonicalProfile(profile)), { as: 'Hex' })
}
