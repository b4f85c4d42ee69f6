import { renderActionButtons, renderNewSecretFields, renderPassphraseField, renderSecondaryButton } from '../fields.ts'
import { type Html, html } from '../html.ts'
import { measurePassphraseStrength } from '../passphraseStrength.ts'
import {
  FieldError,
  type RenderContext,
  type SecurePromptContext,
  type SecurePromptForm,
  type SecurePromptNext,
  type SecurePromptStep,
} from '../securePromptStep.ts'

export function renderNewPassphraseFields(context: RenderContext): Html {
  return renderNewSecretFields(
    {
      name: 'new_passphrase',
      label: 'New wallet passphrase',
      again: 'Confirm passphrase',
      hint: 'At least 10 characters, for example four random words. It cannot be reset.',
    },
    context,
  )
}

/** @throws WrongField, AppError `wallet/passphrase-weak` */
export function readNewPassphrase(form: SecurePromptForm, { requireStrong }: SecurePromptContext): string {
  const passphrase = form('new_passphrase')
  if (passphrase === '') throw new FieldError('new_passphrase', 'Choose a passphrase.')
  requireStrong(passphrase)
  if (passphrase !== form('new_passphrase_again')) {
    throw new FieldError('new_passphrase_again', "The passphrases don't match.")
  }
  return passphrase
}

type Considered = {
  passphrase: string
  before: SecurePromptStep
  after: () => Promise<SecurePromptNext> | SecurePromptNext
}

/** Accepts a strong passphrase. For a weak one, displays its strength and asks the user to confirm. */
export function confirmWeakPassphrase({
  passphrase,
  before,
  after,
}: Considered): Promise<SecurePromptNext> | SecurePromptNext {
  const { isStrong, sentence } = measurePassphraseStrength(passphrase)
  if (isStrong) return after()
  return {
    show: () => ({
      title: 'This passphrase is weak',
      body: html`<p>${sentence} Assumes an attacker with the encrypted wallet and fast GPUs.
Every extra word makes it much stronger.</p>
${renderActionButtons({ label: 'Choose another', value: 'back' }, renderSecondaryButton('Use it anyway', 'next'))}`,
    }),
    take: (form) => (form('do') === 'next' ? after() : before),
  }
}

/** Renders the passphrase field of an existing wallet, or the fields of a new passphrase for the first one. */
export function renderPassphraseFields(first: boolean, context: RenderContext): Html {
  return first ? renderNewPassphraseFields(context) : renderPassphraseField(context)
}

/** @throws WrongField, AppError `wallet/passphrase`, `wallet/passphrase-weak` */
export async function readPassphrase(
  form: SecurePromptForm,
  first: boolean,
  tools: SecurePromptContext,
): Promise<string> {
  if (first) return readNewPassphrase(form, tools)
  const passphrase = readEnteredPassphrase(form)
  await tools.vault.checkPassphrase(passphrase)
  return passphrase
}

/** @throws WrongField */
export function readEnteredPassphrase(form: SecurePromptForm): string {
  const passphrase = form('passphrase')
  if (passphrase === '') throw new FieldError('passphrase', 'Enter your wallet passphrase.')
  return passphrase
}
