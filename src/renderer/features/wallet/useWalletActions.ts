import { useQueryClient } from '@tanstack/react-query'
import type { Input, Route } from '#shared/contract/route.ts'
import {
  addWalletAccount,
  changeWallet,
  type KeyringId,
  lockWallet,
  renameKeyring,
  renameWalletAccount,
  Wallet,
  type WalletAccount,
} from '#shared/contract/wallet.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { walletKey } from '../../api/useWallet.ts'
import { type SecurePromptRequest, useSecurePrompt } from '../../ui/securePromptContext.ts'
import { notify } from '../../ui/toast.tsx'
import { useUnlocked } from '../../ui/useUnlocked.ts'

/** Returns actions on the wallet. Secrets are entered in secure prompts, never in this window. */
export function useWalletActions() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const openSecurePrompt = useSecurePrompt()
  const unlocked = useUnlocked()

  /** Each response contains the updated wallet. */
  const change = async <R extends Route>(route: R, input: Input<R>): Promise<void> => {
    queryClient.setQueryData(walletKey, Wallet.parse(await agent(route, input)))
  }
  /** Reports errors as notices, for actions without another place to show them. */
  const tried = (work: Promise<void>, title: string): void => {
    work.catch((error: unknown) => notify.failed(error, { title }))
  }
  const prompt = async (request: SecurePromptRequest, done: string): Promise<void> => {
    if ((await openSecurePrompt(request)) === 'done') notify.done(done)
  }

  return {
    create: () => void prompt({ purpose: 'create' }, 'Wallet created'),
    importOne: () => void prompt({ purpose: 'import' }, 'Imported'),
    unlock: () => void openSecurePrompt({ purpose: 'unlock' }),
    lock: () => tried(change(lockWallet, {}), 'Could not lock the wallet'),
    reveal: (id: KeyringId) => void openSecurePrompt({ purpose: 'reveal', keyring_id: id }),
    exportKey: ({ id }: WalletAccount) => void openSecurePrompt({ purpose: 'export', account_id: id }),
    remove: (id: KeyringId) => void prompt({ purpose: 'remove', keyring_id: id }, 'Removed from this computer'),
    changePassphrase: () => void prompt({ purpose: 'change_passphrase' }, 'Passphrase changed'),
    makeDefault: ({ id, label }: WalletAccount) =>
      tried(change(changeWallet, { default_account_id: id }), `Could not make “${label}” the default.`),
    addAccount: (input: Input<typeof addWalletAccount>) =>
      tried(
        unlocked(() => change(addWalletAccount, input)),
        'Could not add the account',
      ),
    renameAccount: (account: WalletAccount, label: string) =>
      change(renameWalletAccount, { accountId: account.id, label }),
    renameKeyring: (keyringId: KeyringId, label: string) => change(renameKeyring, { keyringId, label }),
  }
}

export type WalletActions = ReturnType<typeof useWalletActions>
