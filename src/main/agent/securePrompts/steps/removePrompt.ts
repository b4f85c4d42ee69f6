import type { ServiceConnection } from '#shared/contract/localApi.ts'
import type { Keyring } from '#shared/contract/wallet.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import {
  cancelButton,
  renderActionButtons,
  renderChoiceField,
  renderPassphraseField,
  renderTextField,
  renderWarning,
} from '../fields.ts'
import { type Html, html } from '../html.ts'
import type { SecurePromptFlow, SecurePromptNext } from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

/** Addresses of the keyring that sign in to an account at the service. */
export type LinkedAddresses = {
  /** Linked by Steward, which also unlinks them. */
  own: readonly string[]
  /** Linked by the user. */
  others: readonly string[]
  service: Pick<ServiceConnection, 'name' | 'kind' | 'state'>
}

/** Prompt that removes a phrase or a key with all its accounts from the wallet. */
export function createRemovePrompt(vault: WalletVault, keyring: Keyring, linked: LinkedAddresses): SecurePromptFlow {
  const { id, label, kind, accounts, written_down } = keyring
  const secret = kind === 'phrase' ? 'phrase' : 'private key'
  const many = accounts.length === 1 ? 'This removes its account' : `This removes its ${accounts.length} accounts`
  return {
    first: {
      show: (context) => ({
        title: `Remove “${label}”`,
        body: html`${renderWarning(
          html`${many} from this computer. Only the ${secret} can restore ${
            accounts.length === 1 ? 'it' : 'them'
          }.${!written_down && html` <strong>You have not confirmed a backup.</strong>`}`,
        )}
<ul class="mono">${accounts.map(({ address }) => html`<li>${address}</li>`)}</ul>
<p>Requests that wait for ${accounts.length === 1 ? 'this account' : 'these accounts'} are denied, and remembered approvals end.</p>
${unlinkNotice(linked, secret)}
${
  linked.others.length > 0 &&
  renderChoiceField(
    'unlink',
    'Sign-in',
    [
      { value: 'all', label: 'Unlink as well', detail: `The ${secret} no longer signs in.` },
      { value: 'own', label: 'Keep linked', detail: `Anyone with the ${secret} can still sign in to your account.` },
    ],
    context,
  )
}
${renderTextField({ name: 'typed_label', label: `Type “${label}” to confirm`, needed: true }, context)}
${renderPassphraseField(context)}
${renderActionButtons({ label: `Remove the ${secret}`, tone: 'danger' }, cancelButton)}`,
      }),
      async take(form): Promise<SecurePromptNext> {
        const unlinksAll = linked.others.length > 0 && form('unlink') === 'all'
        const typedLabel = form('typed_label').trim()
        await vault.remove(id, { typedLabel, unlinksAll, passphrase: readEnteredPassphrase(form) })
        return 'done'
      },
    },
    forget() {},
  }
}

function unlinkNotice({ own, others, service: { name, kind, state } }: LinkedAddresses, secret: string): Html | false {
  const account = kind === 'embedded' ? 'your account on this computer' : `your account at ${name}`
  const later = state === 'connected' ? '' : ' This happens when the service is connected again.'
  const notices = [
    own.length > 0 &&
      html`<p>The ${secret} signs in to ${account}, because Steward linked it. Removing it also ends that: Steward unlinks ${renderAddresses(own)}, and revokes API keys that it created.${later}</p>`,
    others.length > 0 &&
      html`<p>Also linked to ${account}, by you or an earlier version of Steward: ${renderAddresses(others)}. Anyone with the ${secret} can sign in there until you unlink it.${later}</p>`,
  ]
  return notices.some((notice) => notice) && html`${notices.filter((notice) => notice !== false)}`
}

function renderAddresses(list: readonly string[]): Html {
  return html`${list.map((address, index) => html`${index > 0 && ', '}<span class="mono">${address}</span>`)}`
}
