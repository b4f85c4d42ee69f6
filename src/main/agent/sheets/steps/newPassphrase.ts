import { type Html, html } from '../html.ts'
import { passphraseStrength } from '../passphraseStrength.ts'
import { actions, newSecretFields, otherButton, passphraseField } from '../sheetParts.ts'
import {
  type SheetForm,
  type SheetNext,
  type SheetStep,
  type SheetTools,
  type Shown,
  WrongField,
} from '../sheetStep.ts'

export function newPassphraseFields(shown: Shown): Html {
  return newSecretFields(
    {
      name: 'new_passphrase',
      label: 'New wallet passphrase',
      again: 'Confirm passphrase',
      hint: 'At least 10 characters, for example four random words. It cannot be reset.',
    },
    shown,
  )
}

/** @throws WrongField, AppError `wallet/passphrase-weak` */
export function newPassphraseOf(form: SheetForm, { requireStrong }: SheetTools): string {
  const passphrase = form('new_passphrase')
  if (passphrase === '') throw new WrongField('new_passphrase', 'Choose a passphrase.')
  requireStrong(passphrase)
  if (passphrase !== form('new_passphrase_again')) {
    throw new WrongField('new_passphrase_again', "The passphrases don't match.")
  }
  return passphrase
}

type Considered = { passphrase: string; before: SheetStep; after: () => Promise<SheetNext> | SheetNext }

/** Goes on with a strong passphrase; says of another one how long it holds, and lets the person decide. */
export function consideredPassphrase({ passphrase, before, after }: Considered): Promise<SheetNext> | SheetNext {
  const { isStrong, sentence } = passphraseStrength(passphrase)
  if (isStrong) return after()
  return {
    show: () => ({
      title: 'This passphrase is weak',
      body: html`<p>${sentence} That is for somebody who has a copy of the sealed wallet and strong computers.
Each word more makes it many times longer.</p>
${actions({ label: 'Choose another', value: 'back' }, otherButton('Use it anyway', 'next'))}`,
    }),
    take: (form) => (form('do') === 'next' ? after() : before),
  }
}

/** A wallet that is there asks for its passphrase, a first one for a new one. */
export function ownPassphraseFields(first: boolean, shown: Shown): Html {
  return first ? newPassphraseFields(shown) : passphraseField(shown)
}

/** @throws WrongField, AppError `wallet/passphrase`, `wallet/passphrase-weak` */
export async function ownPassphraseOf(form: SheetForm, first: boolean, tools: SheetTools): Promise<string> {
  if (first) return newPassphraseOf(form, tools)
  const passphrase = givenPassphrase(form)
  await tools.vault.checkPassphrase(passphrase)
  return passphrase
}

/** @throws WrongField */
export function givenPassphrase(form: SheetForm): string {
  const passphrase = form('passphrase')
  if (passphrase === '') throw new WrongField('passphrase', 'Enter your wallet passphrase.')
  return passphrase
}
