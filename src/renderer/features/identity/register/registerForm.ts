import type { z } from 'zod'
import { AutomatonProfile, type previewRegistration } from '#shared/contract/automatons.ts'
import type { Input } from '#shared/contract/route.ts'
import type { Wallet, WalletAccount, WalletAccountId } from '#shared/contract/wallet.ts'

/** Field values as typed. */
export type RegisterForm = {
  /** Account whose address identifies the automaton. */
  accountId: WalletAccountId | undefined
  automatonId: string
  creator: string
  name: string
  bio: string
  /** Empty for no prompt. */
  promptHash: string
}
export type RegisterErrors = Partial<Record<keyof RegisterForm, string>>
export type RegistrationInput = Input<typeof previewRegistration>

export function listAccounts(wallet: Wallet): WalletAccount[] {
  return wallet.keyrings.flatMap(({ accounts }) => accounts)
}

/**
 * Returns initial values: those of an earlier registration, or the wallet's default account, which is also the creator.
 */
export function createInitialForm(
  wallet: Wallet,
  options: { newId: () => string; before: AutomatonProfile | undefined },
): RegisterForm {
  const { before, newId } = options
  const accounts = listAccounts(wallet)
  const { evm, solana } = wallet.default_accounts
  const defaultAccount = accounts.find(({ id }) => id === (evm ?? solana)) ?? accounts[0]
  const same = accounts.find(({ address }) => address === before?.automaton_address)
  return {
    accountId: (same ?? defaultAccount)?.id,
    automatonId: before?.automaton_id ?? newId(),
    creator: before?.creator_address ?? defaultAccount?.address ?? '',
    name: before?.name ?? '',
    bio: before?.bio ?? '',
    promptHash: before?.genesis_prompt_hash ?? '',
  }
}

/** Builds the request. The agent and the service validate it again. */
export function toRegistrationInput(form: RegisterForm, accounts: readonly WalletAccount[]): RegistrationInput {
  const account = accounts.find(({ id }) => id === form.accountId)
  return {
    ...(account && { account_id: account.id, chain_type: account.chain_type }),
    automaton_id: form.automatonId.trim(),
    creator_address: form.creator.trim(),
    name: form.name,
    bio: form.bio,
    ...(form.promptHash.trim() !== '' && { genesis_prompt_hash: form.promptHash.trim() }),
  }
}

const { shape } = AutomatonProfile

/** Validates the fields. Reports missing ones only with `all`. */
export function validateRegisterForm(form: RegisterForm, { all }: { all: boolean }): RegisterErrors {
  const checks: [keyof RegisterForm, z.ZodType, string][] = [
    ['automatonId', shape.automaton_id, form.automatonId.trim()],
    ['creator', shape.creator_address, form.creator.trim()],
    ['name', shape.name, form.name],
    ['bio', shape.bio, form.bio],
    ['promptHash', shape.genesis_prompt_hash, form.promptHash.trim()],
  ]
  const entries = checks.flatMap(([field, schema, value]) => {
    if (value === '' && (field === 'promptHash' || !all)) return []
    const [issue] = schema.safeParse(value).error?.issues ?? []
    return issue ? [[field, `It ${issue.message}.`] as const] : []
  })
  const errors: RegisterErrors = Object.fromEntries(entries)
  if (form.accountId === undefined) errors.accountId = 'Choose the account that signs.'
  return errors
}
