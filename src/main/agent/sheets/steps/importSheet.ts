import { heldSecret } from '../heldSecret.ts'
import { type Html, html } from '../html.ts'
import { actions, cancelButton, choiceField, fileField, secretArea, secretField, textField } from '../sheetParts.ts'
import {
  type SheetFlow,
  type SheetForm,
  type SheetNext,
  type SheetStep,
  type SheetTools,
  type Shown,
  WrongField,
} from '../sheetStep.ts'
import { labelOf, labelTexts } from './keyringLabel.ts'
import { consideredPassphrase, ownPassphraseFields, ownPassphraseOf } from './newPassphrase.ts'

type Kind = {
  name: 'phrase' | 'private_key' | 'keystore'
  tab: string
  fields(shown: Shown): Html
  /** Of the form: what is imported. @throws WrongField */
  secretOf(form: SheetForm): string
}

/** The wallet in the form in which the person has it. */
export function importSheet(tools: SheetTools, first: boolean): SheetFlow {
  const { vault } = tools
  const secret = heldSecret()
  const password = heldSecret()

  const step = (kind: Kind): SheetStep => {
    const own: SheetStep = {
      show: (shown) => ({
        title: first ? 'Import a wallet' : 'Import a phrase or key',
        body: html`${tabs(kind)}${kind.fields(shown)}
${textField(labelTexts, shown)}
${ownPassphraseFields(first, shown)}
${actions({ label: 'Import' }, cancelButton)}`,
      }),
      async take(form) {
        const chosen = kinds.find(({ name }) => name === form('do'))
        if (chosen) return step(chosen)
        const label = labelOf(form)
        secret.hold(kind.secretOf(form))
        password.hold(form('keystore_password'))
        const chainType = form('chain') === 'solana' ? 'solana' : 'evm'
        const passphrase = await ownPassphraseOf(form, first, tools)
        const given = { passphrase, ...(label !== undefined && { label }) }
        const add = async (): Promise<SheetNext> => {
          if (kind.name === 'phrase') await vault.addPhrase({ ...given, phrase: secret.read(), writtenDown: true })
          else if (kind.name === 'private_key') {
            await vault.addPrivateKey({ ...given, privateKey: secret.read(), chainType })
          } else await vault.addKeystore({ ...given, json: secret.read(), password: password.read() })
          return 'done'
        }
        return first ? consideredPassphrase({ passphrase, before: own, after: add }) : add()
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
  fields: (shown) =>
    secretArea(
      { name: 'phrase', label: 'Recovery phrase', hint: '12 to 24 words, separated by spaces.', rows: 3 },
      shown,
    ),
  secretOf: (form) => {
    const phrase = form('phrase').trim().toLowerCase().split(/\s+/).join(' ')
    return needed('phrase', phrase, 'Enter the recovery phrase.')
  },
}

const kinds: readonly Kind[] = [
  phraseKind,
  {
    name: 'private_key',
    tab: 'Private key',
    fields: (shown) =>
      html`${choiceField(
        'chain',
        'Chain',
        [
          { value: 'evm', label: 'EVM', detail: 'Base and others: hexadecimal' },
          { value: 'solana', label: 'Solana', detail: 'base58, or a list of bytes' },
        ],
        shown,
      )}${secretField({ name: 'private_key', label: 'Private key' }, shown)}`,
    secretOf: (form) => needed('private_key', form('private_key').trim(), 'Enter the private key.'),
  },
  {
    name: 'keystore',
    tab: 'Keystore file',
    fields: (shown) =>
      html`${fileField({ name: 'keystore', label: 'Keystore V3 file', accept: '.json,application/json' }, shown)}
${secretArea({ name: 'keystore_text', label: 'Or paste its contents', rows: 2 }, shown)}
${secretField({ name: 'keystore_password', label: 'File password' }, shown)}`,
    secretOf: (form) =>
      needed(
        'keystore',
        form('keystore') || form('keystore_text').trim(),
        'Choose a Keystore V3 file, or paste its contents.',
      ),
  },
]

function tabs(present: Kind): Html {
  const buttons = kinds.map(
    ({ name, tab }) =>
      html`<button name="do" value="${name}" formnovalidate aria-pressed="${name === present.name ? 'true' : 'false'}">${tab}</button>`,
  )
  // Enter does the first button of a form, which must not be one of these.
  return html`<button class="enter" name="do" value="next" tabindex="-1" aria-hidden="true">Import</button>
<nav aria-label="What to import">${buttons}</nav>`
}

function needed(field: string, value: string, sentence: string): string {
  if (value === '') throw new WrongField(field, sentence)
  return value
}
