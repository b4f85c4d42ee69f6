import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getSignatureFromTransaction,
  getTransactionDecoder,
  partiallySignTransaction,
  type Transaction,
} from '@solana/kit'
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { ExactSvmScheme } from '@x402/svm/exact/facilitator'
import { FailedTransactionMetadata, LiteSVM } from 'litesvm'
import { createScriptedNode, results } from './scriptedNode.ts'

export const solanaUsdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' as Address
const genesis = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'

type Landed = { signature: string; wire: string; keys: readonly string[]; err: unknown; blockTime: number }

/**
 * Starts Solana's runtime with its built-in programs behind a node's documented JSON-RPC API
 * (https://solana.com/docs/rpc). Includes the facilitator of the x402 library, which verifies and settles on it.
 */
export async function solanaCluster(now: () => number = Date.now) {
  const svm = new LiteSVM()
  const facilitatorKey = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(7))
  svm.airdrop(facilitatorKey.address, 1_000_000_000n as Parameters<typeof svm.airdrop>[1])
  putAccount(svm, solanaUsdc, mintBytes())
  const landed: Landed[] = []

  const decode = (wire: string): Transaction => getTransactionDecoder().decode(Buffer.from(wire, 'base64'))
  const sign = async (wire: string): Promise<Transaction> =>
    partiallySignTransaction([facilitatorKey.keyPair], decode(wire))
  /** Submits the transaction signed by the facilitator. Anyone who has the transaction may submit it. */
  const land = async (wire: string): Promise<string> => {
    const transaction = await sign(wire)
    const result = svm.sendTransaction(transaction)
    const signature = getSignatureFromTransaction(transaction)
    const err = result instanceof FailedTransactionMetadata ? result.toString() : null
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
    const blockTime = Math.floor(now() / 1000)
    const bytes = getBase64EncodedWireTransaction(transaction)
    landed.unshift({ signature, wire: bytes, keys: message.staticAccounts, err, blockTime })
    if (err !== null) throw new Error(`It failed: ${err}`)
    return signature
  }

  const respond = (address: Address) => {
    const account = svm.getAccount(address)
    if (!account.exists) return null
    const data = [Buffer.from(account.data).toString('base64'), 'base64']
    return {
      data,
      executable: false,
      lamports: Number(account.lamports),
      owner: account.programAddress,
      space: data.length,
    }
  }
  const node = await createScriptedNode(
    results({
      getGenesisHash: genesis,
      getLatestBlockhash: () => ({
        context: { slot: 5 },
        value: { blockhash: svm.latestBlockhash(), lastValidBlockHeight: 150 },
      }),
      isBlockhashValid: ([hash]: [string]) => ({ context: { slot: 5 }, value: hash === svm.latestBlockhash() }),
      getSignaturesForAddress: ([address]: [string]) =>
        landed
          .filter(({ keys }) => keys.includes(address))
          .map(({ signature, err, blockTime }) => ({
            ...{ signature, err, blockTime, slot: 4, memo: null, confirmationStatus: 'finalized' },
          })),
      getMultipleAccounts: ([addresses]: [Address[]]) => ({ context: { slot: 5 }, value: addresses.map(respond) }),
      getBlockTime: () => Math.floor(now() / 1000),
      getTransaction([signature]: [string]) {
        const transaction = landed.find((it) => it.signature === signature)
        return (
          transaction && {
            slot: 4,
            meta: { err: transaction.err, fee: 10_000 },
            transaction: [transaction.wire, 'base64'],
          }
        )
      },
    }),
  )

  const facilitator = new ExactSvmScheme({
    getAddresses: () => [facilitatorKey.address],
    signTransaction: async (wire) => getBase64EncodedWireTransaction((await sign(wire)) as never),
    async simulateTransaction(wire) {
      const simulation = svm.simulateTransaction(await sign(wire))
      if (simulation instanceof FailedTransactionMetadata) throw new Error(simulation.toString())
    },
    sendTransaction: land,
    confirmTransaction: async () => {},
  })

  return {
    ...{
      svm,
      facilitator,
      land,
      url: node.url,
      close: node.close,
      calls: node.calls,
      feePayer: facilitatorKey.address as string,
    },
    /** Expires the blockhash, so that transactions with an earlier one are rejected. */
    expire: () => svm.expireBlockhash(),
    async give(owner: string, amount: bigint): Promise<void> {
      putAccount(svm, await findTokenAccount(owner), encodeTokenAccount(owner, amount))
    },
    async balance(owner: string): Promise<bigint> {
      const account = svm.getAccount(await findTokenAccount(owner))
      return account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n
    },
    airdrop: (address: string, lamports: bigint) =>
      svm.airdrop(address as Address, lamports as Parameters<typeof svm.airdrop>[1]),
    /** Returns an address without a known key. */
    someAddress: (digit: number): Promise<string> =>
      createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(digit)).then(({ address }) => address),
  }
}

async function findTokenAccount(owner: string): Promise<Address> {
  const seeds = { owner: owner as Address, mint: solanaUsdc, tokenProgram: TOKEN_PROGRAM_ADDRESS }
  const [tokenAccount] = await findAssociatedTokenPda(seeds)
  return tokenAccount
}

function putAccount(svm: LiteSVM, address: Address, data: Uint8Array): void {
  svm.setAccount({
    ...{ address, data, executable: false, programAddress: TOKEN_PROGRAM_ADDRESS, space: BigInt(data.length) },
    lamports: 10_000_000n as never,
  })
}

/** Encodes a mint in the token program's layout: supply, 6 decimals, initialized. */
function mintBytes(): Uint8Array {
  const bytes = Buffer.alloc(82)
  bytes.writeBigUInt64LE(1_000_000_000_000n, 36)
  bytes[44] = 6
  bytes[45] = 1
  return bytes
}

/** Encodes a token account: mint, owner, amount, initialized. */
function encodeTokenAccount(owner: string, amount: bigint): Uint8Array {
  const bytes = Buffer.alloc(165)
  bytes.set(getAddressEncoder().encode(solanaUsdc), 0)
  bytes.set(getAddressEncoder().encode(owner as Address), 32)
  bytes.writeBigUInt64LE(amount, 64)
  bytes[108] = 1
  return bytes
}
