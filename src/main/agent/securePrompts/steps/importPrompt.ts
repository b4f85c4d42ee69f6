import {
  cancelButton,
  renderActionButtons,
  renderChoiceField,
  renderFileField,
  renderSecretArea,
  renderSecretField,
  renderTextField,
} from '../fields.ts'
import { type Html, html } from '../html.ts'
import { createSecretBuffer } from '../secretBuffer.ts'
import {
  FieldError,
  type RenderContext,
  type SecurePromptContext,
  type SecurePromptFlow,
  type SecurePromptForm,
  type SecurePromptNext,
  type SecurePromptStep,
} from '../securePromptStep.ts'
import { labelTexts, readLabel } from './keyringLabel.ts'
import { confirmWeakPassphrase, readPassphrase, renderPassphraseFields } from './newPassphrase.ts'

type Kind = {
  name: 'phrase' | 'private_key' | 'keystore'
  tab: string
  fields(context: RenderContext): Html
  /** Reads the secret to import from the form. @throws WrongField */
  readSecret(form: SecurePromptForm): string
}

/** Prompt that imports a phrase, a private key or a Keystore file. */
export function createImportPrompt(tools: SecurePromptContext, first: boolean): SecurePromptFlow {
  const { vault } = tools
  const secret = createSecretBuffer()
  const password = createSecretBuffer()

  const step = (kind: Kind): SecurePromptStep => {
    const own: SecurePromptStep = {
      show: (context) => ({
        title: first ? 'Import a wallet' : 'Import a phrase or key',
        body: html`${renderTabs(kind)}${kind.fields(context)}
${renderTextField(labelTexts, context)}
${renderPassphraseFields(first, context)}
${renderActionButtons({ label: 'Import' }, cancelButton)}`,
      }),
      async take(form) {
        const chosen = kinds.find(({ name }) => name === form('do'))
        if (chosen) return step(chosen)
        const label = readLabel(form)
        secret.hold(kind.readSecret(form))
        password.hold(form('keystore_password'))
        const chainType = form('chain') === 'solana' ? 'solana' : 'evm'
        const passphrase = await readPassphrase(form, first, tools)
        const options = { passphrase, ...(label !== undefined && { label }) }
        const add = async (): Promise<SecurePromptNext> => {
          if (kind.name === 'phrase') await vault.addPhrase({ ...options, phrase: secret.read(), writtenDown: true })
          else if (kind.name === 'private_key') {
            await vault.addPrivateKey({ ...options, privateKey: secret.read(), chainType })
          } else await vault.addKeystore({ ...options, json: secret.read(), password: password.read() })
          return 'done'
        }
        return first ? confirmWeakPassphrase({ passphrase, before: own, after: add }) : add()
      },
    }
    return own
  }
  return {
    first: step(phraseKind),
    forget() {
      secret.forget()
      password.forget()
    },
  }
}

const phraseKind: Kind = {
  name: 'phrase',
  tab: 'Recovery phrase',
  fields: (context) =>
    renderSecretArea(
      { name: 'phrase', label: 'Recovery phrase', hint: '12 to 24 words, separated by spaces.', rows: 3 },
      context,
    ),
  readSecret: (form) => {
    const phrase = form('phrase').trim().toLowerCase().split(/\s+/).join(' ')
    return requireValue('phrase', phrase, 'Enter the recovery phrase.')
  },
}

const kinds: readonly Kind[] = [
  phraseKind,
  {
    name: 'private_key',
    tab: 'Private key',
    fields: (context) =>
      html`${renderChoiceField(
        'chain',
        'Chain',
        [
          { value: 'evm', label: 'EVM', detail: 'Base and others: hexadecimal' },
          { value: 'solana', label: 'Solana', detail: 'base58, or a list of bytes' },
        ],
        context,
      )}${renderSecretField({ name: 'private_key', label: 'Private key' }, context)}`,
    readSecret: (form) => requireValue('private_key', form('private_key').trim(), 'Enter the private key.'),
  },
  {
    name: 'keystore',
    tab: 'Keystore file',
    fields: (context) =>
      html`${renderFileField({ name: 'keystore', label: 'Keystore V3 file', accept: '.json,application/json' }, context)}
${renderSecretArea({ name: 'keystore_text', label: 'Or paste its contents', rows: 2 }, context)}
${renderSecretField({ name: 'keystore_password', label: 'File password' }, context)}`,
    readSecret: (form) =>
      requireValue(
        'keystore',
        form('keystore') || form('keystore_text').trim(),
        'Choose a Keystore V3 file, or paste its contents.',
      ),
  },
]

function renderTabs(present: Kind): Html {
  const buttons = kinds.map(
    ({ name, tab }) =>
      html`<button name="do" value="${name}" formnovalidate aria-pressed="${name === present.name ? 'true' : 'false'}">${tab}</button>`,
  )
  // Enter activates the first button of a form, which must not be a tab.
  return html`<button class="default-submit" name="do" value="next" tabindex="-1" aria-hidden="true">Import</button>
<nav aria-label="What to import">${buttons}</nav>`
}

function requireValue(field: string, value: string, sentence: string): string {
  if (value === '') throw new FieldError(field, sentence)
  return value
}
