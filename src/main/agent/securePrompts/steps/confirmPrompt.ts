import { formatRequester } from '#shared/contract/describeRequester.ts'
import { describeIntent } from '#shared/contract/intentHeadline.ts'
import type { IntentRecord } from '#shared/contract/intents.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import type { WalletVault } from '../../wallet/walletVault.ts'
import { cancelButton, renderActionButtons, renderPassphraseField, renderSecondaryButton } from '../fields.ts'
import { type Html, html } from '../html.ts'
import type { SecurePromptFlow, SecurePromptNext } from '../securePromptStep.ts'
import { readEnteredPassphrase } from './newPassphrase.ts'

type IntentConfirmation = { vault: WalletVault; approvals: Pick<Approvals, 'decide'>; intent: IntentRecord }

/** Prompt that approves an intent above the threshold, in a page that the main window cannot draw. */
export function createConfirmPrompt({ vault, approvals, intent }: IntentConfirmation): SecurePromptFlow {
  const { id, requester, reason, sentence, fields, raw } = intent
  const headline = describeIntent(intent)
  return {
    first: {
      show: (context) => ({
        title: 'Approve this request?',
        body: html`<p class="sentence">${headline}</p>${headline !== sentence && html`<p>${sentence}</p>`}
<dl>${renderRow('Requested by', formatRequester(requester), 'text')}${reason !== null && renderRow('Reason given (unverified)', reason, 'text')}${fields.map(
          (field) => renderRow(field.label, field.value, field.kind),
        )}</dl>
<details><summary>Full data to sign</summary><pre tabindex="0">${raw}</pre></details>
${renderPassphraseField(context)}
${renderActionButtons({ label: 'Approve' }, renderSecondaryButton('Deny', 'deny'), cancelButton)}`,
      }),
      async take(form): Promise<SecurePromptNext> {
        if (form('do') === 'deny') {
          await approvals.decide(id, { approve: false, confirmed: true })
          return 'done'
        }
        const passphrase = readEnteredPassphrase(form)
        if (vault.isUnlocked()) await vault.checkPassphrase(passphrase)
        else await vault.unlock(passphrase)
        await approvals.decide(id, { approve: true, confirmed: true })
        return 'done'
      },
    },
    forget() {},
  }
}

function renderRow(label: string, value: string, kind: IntentRecord['fields'][number]['kind']): Html {
  return html`<dt>${label}</dt><dd class="${kind === 'warning' ? 'warning-value' : kind}">${value}</dd>`
}
