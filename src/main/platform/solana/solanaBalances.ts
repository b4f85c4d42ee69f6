import { z } from 'zod'
import type { SolanaNetwork } from '#shared/contract/networks.ts'
import { deriveTokenAccount, solanaPrograms } from './solanaAddresses.ts'

/** Millionths of a USDC, and lamports. */
export type SolanaBalance = { usdc: bigint; lamports: bigint }
type Query = <T>(schema: z.ZodType<T>, method: string, params: readonly unknown[]) => Promise<T>

/** Limit of `getMultipleAccounts`. Each owner needs two accounts. */
const maxAccountsPerQuery = 100
/** Account layout of the token program: https://github.com/solana-program/token/blob/main/program/src/state.rs */
const tokenAccount = { bytes: 165, mintAt: 0, ownerAt: 32, amountAt: 64 }

const Lamports = z.int().nonnegative()
const Data = z.tuple([z.base64().max(4_096), z.literal('base64')])
const Account = z.object({ lamports: Lamports, owner: z.string().max(44), data: z.unknown() }).nullable()
type Account = z.infer<typeof Account>

/** @returns the balances in the order of the owners, or undefined if the response is invalid */
export async function readSolanaBalances(
  ask: Query,
  network: SolanaNetwork,
  owners: readonly string[],
): Promise<SolanaBalance[] | undefined> {
  const sources = await Promise.all(owners.map((owner) => deriveTokenAccount(owner, network.usdc.address)))
  const balances: SolanaBalance[] = []
  for (let at = 0; at < owners.length; at += maxAccountsPerQuery / 2) {
    const batch = owners.slice(at, at + maxAccountsPerQuery / 2)
    const accounts = [...batch, ...sources.slice(at, at + batch.length)]
    const answer = z.object({ value: z.array(Account).length(accounts.length) })
    const options = { commitment: 'confirmed', encoding: 'base64' }
    const { value } = await ask(answer, 'getMultipleAccounts', [accounts, options])
    for (const [index, owner] of batch.entries()) {
      const usdc = await sumTokens(value[batch.length + index] ?? null, owner, network.usdc.address)
      if (usdc === undefined) return undefined
      balances.push({ usdc, lamports: BigInt(value[index]?.lamports ?? 0) })
    }
  }
  return balances
}

/** @returns undefined if it is not a token account of this owner and mint */
async function sumTokens(account: Account, owner: string, mint: string): Promise<bigint | undefined> {
  if (account === null) return 0n
  const data = Data.safeParse(account.data).data
  // An address without a token account can still hold SOL that was sent to it.
  if (account.owner === solanaPrograms.system && data?.[0] === '') return 0n
  const bytes = Buffer.from(data?.[0] ?? '', 'base64')
  if (account.owner !== solanaPrograms.token || bytes.length !== tokenAccount.bytes) return undefined
  const { base58 } = await import('@scure/base')
  const isKey = (offset: number, key: string) => base58.encode(bytes.subarray(offset, offset + 32)) === key
  if (!isKey(tokenAccount.mintAt, mint) || !isKey(tokenAccount.ownerAt, owner)) return undefined
  return bytes.readBigUInt64LE(tokenAccount.amountAt)
}
