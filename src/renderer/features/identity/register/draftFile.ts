import { z } from 'zod'
import { AutomatonProfile } from '#shared/contract/automatons.ts'
import { describeIssue } from '#shared/contract/describeIssue.ts'
import { ChainType, type WalletAccount } from '#shared/contract/wallet.ts'
import { hashText } from './hashPrompt.ts'
import type { RegisterForm } from './registerForm.ts'

export type ReadDraft = { values: Partial<RegisterForm> } | { problems: string[] }

export const maxDraftBytes = 256 * 1024

const DraftFile = z.strictObject({
  ...AutomatonProfile.partial().shape,
  /** Hashed locally and discarded. */
  genesis_prompt: z.string().optional(),
  chain_type: ChainType.optional(),
})

/** Reads form values from an untrusted JSON file. Reports every invalid field and infers nothing. */
export async function readDraft(text: string, accounts: readonly WalletAccount[]): Promise<ReadDraft> {
  const content = parseJson(text)
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    return { problems: ['The file is not a JSON object.'] }
  }
  const { data, error } = DraftFile.safeParse(content)
  if (!data) return { problems: error.issues.flatMap((issue) => listProblems(issue, content)) }
  const { automaton_address: address, chain_type: chain, genesis_prompt, genesis_prompt_hash } = data
  const account = accounts.find((it) => isSameAccount(it, address))
  const hash = genesis_prompt === undefined ? undefined : await hashText(genesis_prompt)
  const problems = [
    ...(address !== undefined && !account ? [`The address ${address} is not in your wallet, so it cannot sign.`] : []),
    ...(account && chain !== undefined && chain !== account.chain_type
      ? [`The chain type is ${chain}, but the chain of this address is ${account.chain_type}.`]
      : []),
    ...(hash !== undefined && genesis_prompt_hash !== undefined && hash !== genesis_prompt_hash.toLowerCase()
      ? ['The prompt hash does not match the prompt.']
      : []),
  ]
  if (problems.length > 0) return { problems }
  const first = chain && accounts.find(({ chain_type }) => chain_type === chain)
  const signs = account ?? first
  return {
    values: {
      ...(signs && { accountId: signs.id }),
      ...(data.automaton_id !== undefined && { automatonId: data.automaton_id }),
      ...(data.creator_address !== undefined && { creator: data.creator_address }),
      ...(data.name !== undefined && { name: data.name }),
      ...(data.bio !== undefined && { bio: data.bio }),
      ...((genesis_prompt_hash ?? hash) !== undefined && { promptHash: genesis_prompt_hash ?? hash ?? '' }),
    },
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // reported with its actual type
  }
}

function listProblems(issue: z.core.$ZodIssue, content: unknown): string[] {
  if (issue.code !== 'unrecognized_keys') return [describeIssue(issue, content)]
  return issue.keys.map((key) => `Unknown field “${key}”.`)
}

function isSameAccount({ address, chain_type }: WalletAccount, expected: string | undefined): boolean {
  if (chain_type === 'solana') return address === expected
  return address.toLowerCase() === expected?.toLowerCase()
}
